/** The list that is committed, against the files it is made of; skipped where those are missing. */
import { expect, test } from '@jest/globals'
import { existsSync, readFileSync } from 'node:fs'
import { convertLists } from '../../../scripts/convert-referrer-list.js'
import { LIST_VERSION } from '../../../src/ingest/enrichment/referrer-list.js'
import { packagePath } from '../../../src/lib/package-path.js'

const FOLDER = packagePath('../shared/data/reference-lists/matomo')
const read = (file: string): string => readFileSync(`${FOLDER}/${file}`, 'utf8')
const testIfThere = existsSync(FOLDER) ? test : test.skip

testIfThere('the list is what the tool makes of the files', () => {
  const files = {
    searchEngines: read('SearchEngines.yml'),
    socials: read('Socials.yml'),
    assistants: read('AIAssistants.yml'),
  }
  const committed = readFileSync(packagePath('src/ingest/enrichment/referrer-list.ts'), 'utf8')
  expect(convertLists(files, LIST_VERSION)).toBe(committed)
})
