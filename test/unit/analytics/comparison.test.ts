/** The change of a metric between two periods. */
import { expect, test } from '@jest/globals'
import { computeChange } from '../../../src/analytics/comparison.js'
import type { Metric } from '../../../src/contract/api.js'

type Value = number | null

test.each<[Metric, Value, Value, number | null]>([
  ['users', 812, 790, 2.78],
  ['users', 790, 812, -2.71],
  ['users', 5, 5, 0],
  ['users', 0, 8, -100],
  ['users', 3, 1, 200],
  ['users', 8, 0, null],
  ['users', 0, 0, null],
  ['pageviews', 2, 3, -33.33],
  ['events', 1, 3, -66.67],
  // Halves are rounded away from 0: 0.125 % and -0.125 %.
  ['events', 801, 800, 0.13],
  ['events', 799, 800, -0.13],
  ['events', 9_000_000_000_001, 9_000_000_000_000, 0],
  ['visit_duration', 128.5, 100.25, 28.18],
  ['visit_duration', null, 100.25, null],
  ['visit_duration', 12, 0, null],
  ['visit_duration', 12, null, null],
  ['bounce_rate', 41.27, 43.5, -2.23],
  ['bounce_rate', 50, 0, 50],
  ['bounce_rate', 0.3, 0.1, 0.2],
  ['bounce_rate', 50, null, null],
  ['bounce_rate', null, 50, null],
])('%s: %p instead of %p is a change of %p', (metric, value, base, want) => {
  expect(computeChange(metric, value, base)).toBe(want)
})
