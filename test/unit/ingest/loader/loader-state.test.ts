/** How a loader counts its failures: the wait until its next attempt grows with those that the store answered. */
import { expect, test } from '@jest/globals'
import { createLoaderMonitor } from '../../../../src/ingest/loader/loader-state.js'

test('attempts while the store was away do not count as refused', () => {
  const monitor = createLoaderMonitor()
  const fail = (isAway: boolean): readonly number[] => {
    const { attempts, refused } = monitor.reportFailure(new Error('no'), undefined, isAway)
    return [attempts, refused]
  }
  expect([false, false, true, true, true, false, false].map(fail)).toEqual([
    [1, 1],
    [2, 2],
    [3, 0],
    [4, 0],
    [5, 0],
    [6, 1],
    [7, 2],
  ])
  monitor.reportSuccess()
  expect(fail(false)).toEqual([1, 1])
})
