/** The sizes of a project across shards: the mean of those that are known, of some shards if they are many. */
import { expect, test } from '@jest/globals'
import { readMeanSizes } from '../../../src/cluster/shard-reads.js'
import type { ProjectSizes } from '../../../src/model/project-sizes.js'

const [readAt, month] = [new Date('2026-01-15'), new Date('2026-01-01')]
const sizesOf = (events: number): ProjectSizes => ({
  readAt,
  months: [{ month, events, visits: events }],
  values: new Map(),
})
const range = (length: number): readonly number[] => Array.from({ length }, (_, i) => i)

test.each<[string, readonly (number | undefined)[], readonly number[], number | undefined]>([
  ['one shard', [7], [0], 7],
  ['two', [10, 30], [0, 1], 20],
  ['one is not known', [undefined, 30, 50], [0, 1, 2], 40],
  ['none is known', [undefined, undefined], [0, 1], undefined],
  ['all of 16', range(16), range(16), 7.5],
  ['every third of 40', range(40), range(14).map((i) => i * 3), 19.5],
])('%s', async (_what, events, asked, want) => {
  const read: number[] = []
  const sizes = await readMeanSizes(range(events.length), (shard) => {
    read.push(shard)
    const known = events[shard]
    return Promise.resolve(known === undefined ? undefined : sizesOf(known))
  })
  expect({ read, events: sizes?.months[0]?.events }).toEqual({
    read: asked,
    events: want === undefined ? undefined : expect.closeTo(want),
  })
})
