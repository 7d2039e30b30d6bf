/** The groups of shards: those for new projects, and those that ClickHouse knows. */
import { expect, test } from '@jest/globals'
import { findGroup, listGroups, listServedGroups } from '../../../src/cluster/groups.js'

const name = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => `s${i + 1}`)
const listNames = (groups: ReturnType<typeof listGroups>): readonly string[] =>
  groups.map((group) => group.name.replace('tallyhouse_', ''))

test.each([
  { shards: 1, want: [], added: [] },
  { shards: 2, want: ['1_2'], added: [] },
  { shards: 3, want: ['1_2', '1_3'], added: [] },
  { shards: 4, want: ['1_2', '3_4', '1_4'], added: ['1_3'] },
  { shards: 5, want: ['1_2', '3_4', '1_4', '1_5'], added: ['1_3'] },
  {
    shards: 8,
    want: ['1_2', '3_4', '5_6', '7_8', '1_4', '5_8', '1_8'],
    added: ['1_3', '1_5', '1_6', '1_7'],
  },
])('$shards shards', ({ shards, want, added }) => {
  expect(listNames(listGroups(name(shards)))).toEqual(want)
  expect(listNames(listServedGroups(name(shards)))).toEqual([...want, ...added])
})

test('1,000 shards have a thousand groups', () => {
  const groups = listServedGroups(name(1_000))
  expect(groups).toHaveLength(1_021)
  expect(groups.reduce((total, { shards }) => total + shards.length, 0)).toBe(9_585)
})

test.each([
  { all: 3, shards: ['s1', 's2', 's3'], want: 'tallyhouse_1_3' },
  { all: 4, shards: ['s1', 's2', 's3'], want: 'tallyhouse_1_3' },
  { all: 4, shards: ['s3', 's4'], want: 'tallyhouse_3_4' },
  { all: 4, shards: ['s2', 's3'], want: undefined },
  { all: 4, shards: ['s2', 's1'], want: 'tallyhouse_1_2' },
  { all: 4, shards: ['s3', 's1', 's4', 's2'], want: 'tallyhouse_1_4' },
  { all: 4, shards: ['s3', 's2'], want: undefined },
  { all: 4, shards: ['s1', 's1'], want: undefined },
  { all: 4, shards: ['s1', 's5'], want: undefined },
  { all: 4, shards: [], want: undefined },
  { all: 4, shards: ['s1'], want: undefined },
])('the group of $shards among $all', ({ all, shards, want }) => {
  expect(findGroup(name(all), shards)?.name).toBe(want)
})

test('every group is found by its shards, and nothing else', () => {
  for (const all of [1, 2, 3, 7, 8, 33, 40].map(name)) {
    const served = new Set(listServedGroups(all).map((group) => group.name))
    const found = all.flatMap((_, start) =>
      all.flatMap((_other, width) => findGroup(all, all.slice(start, start + width + 1)) ?? []),
    )
    expect(new Set(found.map((group) => group.name))).toEqual(served)
  }
})
