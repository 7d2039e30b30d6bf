/** Imports run one way: between files, and between folders. */
import { expect, test } from '@jest/globals'
import { findCycle, foldersOf, readImports } from './source-tree.js'

test('no file imports itself by way of others, not even a type', () => {
  expect(findCycle(readImports())).toBeUndefined()
})

test('no folder imports itself by way of others', () => {
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
