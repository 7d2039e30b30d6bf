import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { withDeadline } from '../../../src/lib/signals.js'
import { collectGarbage } from '../../support/collect-garbage.js'

/** Looks at a signal until it is aborted, and returns the message of its reason. */
async function awaitAbort(signal: AbortSignal): Promise<string> {
  while (!signal.aborted) {
    collectGarbage()
    await sleep(5)
  }
  return (signal.reason as Error).message
}

const forever = new AbortController().signal

test.each<[string, number, AbortSignal | undefined, string]>([
  ['the time is over', 20, undefined, 'the deadline passed'],
  ['the time is over, beside a signal', 20, forever, 'the deadline passed'],
  ['the signal is aborted before', 60_000, AbortSignal.abort(new Error('left')), 'left'],
])(
  'a deadline aborts when %s, whatever is collected meanwhile',
  async (_name, ms, signal, want) => {
    expect(await withDeadline(ms, signal, awaitAbort)).toBe(want)
  },
)

test('a deadline leaves no timer and no listener behind', async () => {
  const given = new AbortController()
  const signal = await withDeadline(20, given.signal, (one) => Promise.resolve(one))
  given.abort()
  await sleep(40)
  expect(signal.aborted).toBe(false)
})
