/** The choice of shards for a new project: the candidates, and the emptiest of them. */
import { expect, test } from '@jest/globals'
import { choose, listCandidates, type Load } from '../../../src/cluster/place-project.js'
import { listWider } from '../../../src/cluster/place-wider.js'
import { UserError } from '../../../src/lib/errors.js'

const SIX = ['a', 'b', 'c', 'd', 'e', 'f']

test.each([
  [{ width: 1 }, ['a'], [['a']]],
  [{ width: 1, shard: 'a' }, ['a'], [['a']]],
  [{ width: 1 }, ['a', 'b', 'c'], [['a'], ['b'], ['c']]],
  [{ width: 1, shard: 'c' }, ['a', 'b', 'c'], [['c']]],
  [
    { width: 2 },
    SIX,
    [
      ['a', 'b'],
      ['c', 'd'],
      ['e', 'f'],
    ],
  ],
  [{ width: 4 }, SIX, [['a', 'b', 'c', 'd']]],
  [{ width: 6 }, SIX, [SIX]],
  [{ width: 2 }, ['a', 'b', 'c'], [['a', 'b']]],
])('%j among %j', (placement, names, want) => {
  expect(listCandidates(names, placement)).toEqual(want)
})

test.each([
  [{ width: 1, shard: 'z' }, ['a'], 'there is no shard z: it is a'],
  [{ width: 1, shard: 'z' }, ['a', 'b', 'c'], 'there is no shard z: it is a, b or c'],
  [{ width: 2, shard: 'a' }, ['a', 'b'], 'a project on the named shard alone has no width'],
  [{ width: 2 }, ['a'], 'there is no group of 2 shards: the width is 1'],
  [{ width: 3 }, ['a', 'b'], 'there is no group of 3 shards: the width is 1 or 2'],
  [{ width: 8 }, SIX, 'there is no group of 8 shards: the width is 1, 2, 4 or 6'],
])('%j among %j is refused', (placement, names, message) => {
  expect(() => listCandidates(names, placement)).toThrow(new UserError(message))
})

const load = (name: string, bytes: number, projects = 0): Load => ({ name, bytes, projects })

test.each([
  [
    'the fewest bytes',
    [['a'], ['b'], ['c']],
    [load('a', 9e6), load('b', 7e6), load('c', 8e6)],
    ['b'],
  ],
  ['nearly as many', [['a'], ['b']], [load('a', 1_900_000, 2), load('b', 1_999_999, 1)], ['b']],
  ['the first of equal ones', [['a'], ['b']], [load('b', 1), load('a', 2)], ['a']],
  ['one is away', [['a'], ['b']], [load('b', 9e9)], ['b']],
  [
    'groups',
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
    [load('a', 1e6), load('b', 9e6), load('c', 4e6), load('d', 5e6)],
    ['c', 'd'],
  ],
  [
    'a group with one that is away',
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
    [load('a', 9e6), load('b', 9e6), load('c', 4e6)],
    ['a', 'b'],
  ],
])('%s', (_what, candidates, loads, want) => {
  expect(choose(candidates, loads)).toEqual(want)
})

test('nothing is chosen when too many shards are away', () => {
  expect(() => choose([['a', 'b']], [load('a', 1)])).toThrow(
    new UserError('no project was created: not enough shards answer'),
  )
})

test.each([
  [['a', 'b'], ['a'], 2, [['a', 'b']]],
  [['a', 'b'], ['b'], 2, [['b', 'a']]],
  [SIX, ['d'], 2, [['d', 'c']]],
  [SIX, ['d', 'c'], 4, [['d', 'c', 'a', 'b']]],
  [SIX, ['c'], 6, [['c', 'a', 'b', 'd', 'e', 'f']]],
])('among %j, a project on %j can be widened to %j: %j', (names, former, width, want) => {
  expect(listWider(names, former, width)).toEqual(want)
})

test.each([
  [SIX, ['a'], 3, 'there is no group of 3 shards with a: --width is 2, 4 or 6'],
  [SIX, ['e'], 4, 'there is no group of 4 shards with e: --width is 2 or 6'],
  [SIX, SIX, 12, `there is no group of 12 shards with ${SIX.join(', ')}: there is no wider one`],
])('among %j, a project on %j cannot be widened to %j', (names, former, width, message) => {
  expect(() => listWider(names, former, width)).toThrow(new UserError(message))
})
