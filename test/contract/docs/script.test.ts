/** The page about the tracking script has the attributes that the script reads. */
import { expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { packagePath } from '../../../src/lib/package-path.js'
import { readDoc, readTables } from './served-pages.js'

test('each attribute that the script reads is documented, and no other', () => {
  const script = readFileSync(packagePath('src/http/site/browser/tally.ts'), 'utf8')
  const read = [...script.matchAll(/settings\['(\w+)'\]|'(\w+)' in settings/g)]
    .map(([, value, flag]) => value ?? flag!)
    .map((name) => `data-${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`)
  const documented = readTables(readDoc('script')).flatMap(
    (row) => /data-[a-z-]+/.exec(JSON.stringify(row))?.[0] ?? [],
  )
  expect(read.length).toBeGreaterThan(4)
  expect(new Set(documented)).toEqual(new Set(read))
})
