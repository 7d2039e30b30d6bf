/** A folder is a room with one purpose: it says which, and it is small enough to be looked over. */
import { expect, test } from '@jest/globals'
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { packagePath } from '../../../src/lib/package-path.js'
import { listSources } from './source-tree.js'

const MAX_FILES = 15

const folders = [...new Set(listSources().map((file) => path.posix.dirname(file)))]
const rooms = folders.filter((folder) => !folder.includes('/') && folder !== '.')

test.each(folders)('src/%s has at most 15 files', (folder) => {
  const files = readdirSync(packagePath(`src/${folder}`), { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'README.md')
    .map(({ name }) => name)
  expect(files.length <= MAX_FILES ? [] : files).toEqual([])
})

test.each(rooms)('src/%s says in a README what belongs there', (room) => {
  expect(existsSync(packagePath(`src/${room}/README.md`))).toBe(true)
})
