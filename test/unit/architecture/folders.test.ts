/** What may come into a folder: a room of the source has one purpose and a README, and some tests need no engine. */
import { expect, test } from '@jest/globals'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { packagePath } from '../../../src/lib/package-path.js'
import { listSources } from './source-tree.js'

const rooms = [...new Set(listSources().map((file) => path.posix.dirname(file)))].filter(
  (folder) => !folder.includes('/') && folder !== '.',
)

test.each(rooms)('src/%s says in a README what belongs there', (room) => {
  expect(existsSync(packagePath(`src/${room}/README.md`))).toBe(true)
})

test.each(['test/unit', 'test/contract'])('%s needs no ClickHouse', (folder) => {
  const files = readdirSync(packagePath(folder), { recursive: true, encoding: 'utf8' })
  const needing = files.filter(
    (file) =>
      file.endsWith('.ts') &&
      /from '[./]+\/support\/(engine|store)\//.test(
        readFileSync(packagePath(`${folder}/${file}`), 'utf8'),
      ),
  )
  expect(needing).toEqual([])
})
