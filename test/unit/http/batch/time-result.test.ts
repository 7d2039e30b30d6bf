/** How long the queries of a batch took. */
import { expect, test } from '@jest/globals'
import type { Result } from '../../../../src/http/batch/run-endpoint.js'
import { timeResult } from '../../../../src/http/batch/post-batch.js'
import { ANSWER as RESPONSE } from '../../../integration/http/harness.js'

const ANSWER = { body: RESPONSE }
const ERROR = { error: { code: 'QUERY_TIMEOUT', message: 'The query took too long.' } } as const

test.each<[string, Result, boolean, readonly [number, number], object]>([
  [
    'an answer from the cache',
    { status: 200, ...ANSWER, source: 'hit' },
    true,
    [100, 100.449],
    { status: 200, ...ANSWER, timing: { milliseconds: 0.4, cache: 'hit' } },
  ],
  [
    'an answer that is not kept',
    { status: 200, ...ANSWER },
    true,
    [0, 12.35],
    { status: 200, ...ANSWER, timing: { milliseconds: 12.4 } },
  ],
  ['an error', { status: 504, body: ERROR }, true, [0, 10_000], { status: 504, body: ERROR }],
  [
    'an answer that nobody times',
    { status: 200, ...ANSWER, source: 'miss' },
    false,
    [0, 5],
    { status: 200, ...ANSWER },
  ],
])('%s', async (_, outcome, isTimed, [begun, ended], want) => {
  let now = begun
  const run = (): Promise<Result> => {
    now = ended
    return Promise.resolve(outcome)
  }
  expect(await timeResult(run, isTimed, () => now)).toEqual(want)
})
