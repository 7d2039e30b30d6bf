/** Compares the committed list with its source files; skipped if those are missing. */
import { expect, test } from '@jest/globals'
import { existsSync, readFileSync } from 'node:fs'
import { generateReferrerList } from '../../../scripts/generate-referrer-list.js'
import { REFERRER_LIST } from '../../../src/ingest/enrichment/referrer-list.js'
import { packagePath } from '../../../src/lib/package-path.js'

const FOLDER = packagePath('../shared/data/reference-lists/matomo')
const read = (file: string): string => readFileSync(`${FOLDER}/${file}`, 'utf8')
const testIfPresent = existsSync(FOLDER) ? test : test.skip

testIfPresent('the committed list is what the script generates from the files', () => {
  const files = {
    searchEngines: read('SearchEngines.yml'),
    socials: read('Socials.yml'),
    assistants: read('AIAssistants.yml'),
  }
  const committed = readFileSync(packagePath('generated/referrer-list.json'), 'utf8')
  expect(generateReferrerList(files, REFERRER_LIST.version)).toBe(committed)
})
