/** A folder is a room with one purpose: a README says what may come in. */
import { expect, test } from '@jest/globals'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { packagePath } from '../../../src/lib/package-path.js'
import { listSources } from './source-tree.js'

const rooms = [...new Set(listSources().map((file) => path.posix.dirname(file)))].filter(
  (folder) => !folder.includes('/') && folder !== '.',
)

test.each(rooms)('src/%s says in a README what belongs there', (room) => {
  expect(existsSync(packagePath(`src/${room}/README.md`))).toBe(true)
})
