/** The rejected rows of several streams come in the order of their source. */
import { expect, test } from '@jest/globals'
import { mergeRejections } from '../../../../src/ingest/import/shards/merge-rejections.js'
import type { Rejection } from '../../../../src/ingest/inbox/rejections.js'

const rejections = (...rows: readonly number[]): readonly Rejection[] =>
  rows.map((row) => ({ row, reason: 'bad', line: '' }))

test('rows are passed on when all streams are behind them', async () => {
  const passed: number[][] = []
  const { add, reach } = mergeRejections(2, (rows) => void passed.push(rows.map(({ row }) => row)))
  add(rejections(2, 9))
  await reach(0, 10)
  expect(passed).toEqual([])
  add(rejections(1, 5))
  await reach(1, 6)
  expect(passed).toEqual([[1, 2, 5]])
  add(rejections(7, 12))
  await reach(1, 13)
  expect(passed).toEqual([
    [1, 2, 5],
    [7, 9],
  ])
  await Promise.all([reach(0, Infinity), reach(1, Infinity)])
  expect(passed).toEqual([[1, 2, 5], [7, 9], [12]])
})

test('rows are passed on one call after another', async () => {
  let running = 0
  let calls = 0
  const { add, reach } = mergeRejections(1, async () => {
    expect(++running).toBe(1)
    await new Promise((go) => setTimeout(go, 5))
    running -= 1
    calls += 1
  })
  const reached: Promise<void>[] = []
  for (let row = 1; row < 4; row += 1) {
    add(rejections(row))
    reached.push(reach(0, row + 1))
    await Promise.resolve()
  }
  await Promise.all(reached)
  expect([running, calls > 0]).toEqual([0, true])
})

test('an error ends it', async () => {
  const failure = new Error('cannot be written')
  const { add, reach } = mergeRejections(1, () => Promise.reject(failure))
  add(rejections(1))
  await expect(reach(0, 2)).rejects.toBe(failure)
  await expect(reach(0, Infinity)).rejects.toBe(failure)
})
