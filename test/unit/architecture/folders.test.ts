/** A folder is a room with one purpose: small enough to look over, and a README says what it is for. */
import { expect, test } from '@jest/globals'
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { packagePath } from '../../../src/lib/package-path.js'
import { listSources } from './source-tree.js'

const MAX_FILES = 15

/** A folder and all folders in it, as paths from the root of the project. */
const foldersIn = (root: string): readonly string[] => [
  root,
  ...readdirSync(packagePath(root), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => path.relative(packagePath('.'), path.join(entry.parentPath, entry.name))),
]

test.each(['src', 'test', 'bench', 'scripts'].flatMap(foldersIn))(
  '%s has at most 15 files',
  (folder) => {
    const files = readdirSync(packagePath(folder), { withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== 'README.md')
      .map(({ name }) => name)
    expect(files.length <= MAX_FILES ? [] : files).toEqual([])
  },
)

const rooms = [...new Set(listSources().map((file) => path.posix.dirname(file)))].filter(
  (folder) => !folder.includes('/') && folder !== '.',
)

test.each(rooms)('src/%s says in a README what belongs there', (room) => {
  expect(existsSync(packagePath(`src/${room}/README.md`))).toBe(true)
})
