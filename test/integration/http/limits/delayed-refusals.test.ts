/** A refusal that is sent late is the response that its request gets, however large the body. */
import { expect, test } from '@jest/globals'
import { createQueryQueue } from '../../../../src/http/query/query-queue.js'
import { CALLER, startApp, type Given } from '../harness.js'

/** How many refusals of a second are sent at once. */
const QUICK = 10
/** More than Node.js keeps of a body that nobody reads. */
const LARGE_BODY = ' '.repeat(65_536)

const FULL = createQueryQueue({ perKey: 1, inAll: 0, waiting: 0, timeoutMs: 1_000 })

test.each<[string, Given, number, number]>([
  ['before all other work', { recall: () => CALLER, queue: FULL }, 503, 503],
  ['by the limit of the minute', { rateLimit: 1 }, 429, 400],
])('of a request that is refused %s', async (_when, given, refused, first) => {
  // Shorter than the delay.
  const app = await startApp({ ...given, timeouts: { headers: 300, request: 600 } })
  expect((await app.ask(LARGE_BODY)).status).toBe(first)
  const all = await Promise.all(Array.from({ length: 3 * QUICK }, () => app.ask(LARGE_BODY)))
  expect(new Set(all.map(({ status }) => status))).toEqual(new Set([refused]))
  await app.stop()
})
