/** Queued writes are grouped into inserts. An insert exceeds the limit only if it is a single write. */
import { expect, test } from '@jest/globals'
import { takeGroup } from '../../../../src/ingest/inbox/insert-scheduler.js'

const sizes = (...bytes: readonly number[]) => bytes.map((size) => ({ bytes: size }))

test.each([
  [[3, 4, 5], 100, [3, 4, 5]],
  [[3, 4, 5], 12, [3, 4, 5]],
  [[3, 4, 5], 11, [3, 4]],
  [[3, 4, 5], 3, [3]],
  [[30, 4], 10, [30]],
  [[4, 30], 10, [4]],
  [[], 10, []],
])(
  'from the queue %j, at most %d bytes are taken, and at least one write',
  (queue, maxBytes, group) => {
    expect(takeGroup(sizes(...queue), maxBytes)).toEqual(sizes(...group))
  },
)
