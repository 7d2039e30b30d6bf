/** The pace of refusals: a few of each key at once, all others a second later. */
import { expect, test } from '@jest/globals'
import { createRefusalPace } from '../../../../src/http/query/slow-refusals.js'
import { until } from '../../../integration/clickhouse/embedded/support.js'

test.each([
  { what: 'of a key', keys: 1, each: 15, quick: 10 },
  { what: 'of all keys together', keys: 50, each: 5, quick: 200 },
])('refusals $what', async ({ keys, each, quick }) => {
  const pace = createRefusalPace()
  // A second of the clock must not end in between.
  while (performance.now() % 1_000 > 900) await new Promise((resolve) => setTimeout(resolve, 10))
  let refused = 0
  for (let n = 0; n < keys * each; n++)
    pace(`key-${n % keys}`, () => {
      refused++
    })
  expect(refused).toBe(quick)
  await until(() => Promise.resolve(refused === keys * each), 10_000)
})
