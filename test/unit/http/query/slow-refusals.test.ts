/** The pace of refusals: a few of each key at once, all others a second later. */
import { expect, test } from '@jest/globals'
import { createRefusalPace } from '../../../../src/http/query/slow-refusals.js'
import { until } from '../../../support/until.js'

test.each([
  { what: 'of a key', keys: 1, each: 15, quick: 10 },
  { what: 'of all keys together', keys: 50, each: 5, quick: 200 },
])('refusals $what', async ({ keys, each, quick }) => {
  let time = 999
  const pace = createRefusalPace(() => time)
  let refused = 0
  const refuseAll = (): void => {
    for (let n = 0; n < keys * each; n++)
      pace(`key-${n % keys}`, () => {
        refused++
      })
  }
  refuseAll()
  expect(refused).toBe(quick)
  // The next second has begun.
  time = 1_000
  refuseAll()
  expect(refused).toBe(2 * quick)
  await until(() => refused === 2 * keys * each)
})
