/** The shard of an event, by its sender. */
import { describe, expect, test } from '@jest/globals'
import { chooseShard } from '../../../src/cluster/sender.js'
import { SENDERS } from '../../support/cluster/senders.js'

describe.each([1, 2, 3, 8, 1_000])('among %d shards', (width) => {
  test.each(SENDERS)('$what', ({ event, hash }) => {
    expect(chooseShard(event, width)).toBe(hash % width)
  })
})
