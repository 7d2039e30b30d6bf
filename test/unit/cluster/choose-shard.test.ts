/** The shard of an event, by its sender. */
import { describe, expect, test } from '@jest/globals'
import { chooseShard } from '../../../src/cluster/choose-shard.js'
import { placeOn, SENDERS, WIDENED, WIDENED_CASES } from '../../support/cluster/senders.js'

const ARRIVAL = new Date('2026-06-01T00:00:00Z')

describe.each([1, 2, 3, 8, 1_000])('among %d shards', (width) => {
  test.each(SENDERS)('$what', ({ event, hash }) => {
    expect(chooseShard(event, placeOn(width), ARRIVAL)).toBe(hash % width)
  })
})

test('a project on the home alone has one shard', () => {
  expect(chooseShard({ user_id: 'u42' }, { shards: [], formerWidths: [] }, ARRIVAL)).toBe(0)
})

describe('of a project that was widened', () => {
  test.each(WIDENED_CASES)('$what', ({ event, receivedAt, width }) => {
    const at = receivedAt === undefined ? ARRIVAL : new Date(receivedAt)
    const [own, ...others] = [width, ...[1, 2, 8].filter((one) => one !== width)].map((one) =>
      chooseShard(event, placeOn(one), at),
    )
    expect(others).not.toContain(own)
    expect(chooseShard(event, WIDENED, at)).toBe(own)
  })
})
