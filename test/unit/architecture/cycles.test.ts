/** Imports run one way: between files, and between folders. */
import { expect, test } from '@jest/globals'
import { findCycle, foldersOf, readImports } from './source-tree.js'

test('no file imports itself through others, type imports included', () => {
  expect(findCycle(readImports())).toBeUndefined()
})

test('no folder imports itself through others', () => {
  expect(findCycle(foldersOf(readImports()))).toBeUndefined()
})

test('a cycle is found', () => {
  const graph = new Map([
    ['a', ['b']],
    ['b', ['c']],
    ['c', ['b']],
  ])
  expect(findCycle(graph)).toEqual(['b', 'c', 'b'])
})
