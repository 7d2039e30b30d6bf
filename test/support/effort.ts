/**
 * How much of their repeated work the tests do. The environment variable `TEST_EFFORT` decides: 1 is the sample that `make test`
 * runs, 0.5 that of `make test-slow`, and 10 what `make test-all` runs before a release. Numbers between and above work as well.
 */

import { test } from '@jest/globals'

const EFFORT = Number(process.env['TEST_EFFORT'] ?? 1)

/** Returns how often to repeat something that an effort of 1 does `count` times. */
export const scaled = (count: number): number => Math.ceil(count * EFFORT)

/** Returns the distance between the steps to test, if an effort of 1 tests one in `every`. */
export const stride = (every: number): number => Math.max(1, Math.round(every / EFFORT))

/** Whether to test the nth step of a loop, counted from 1. At an effort of 1, one step in `every` is tested. */
export const isSampled = (n: number, every: number): boolean => (n - 1) % stride(every) === 0

/** Returns the items of a list to test. At an effort of 1, that is one in `every`. */
export const sample = <T>(items: readonly T[], every: number): readonly T[] =>
  items.filter((_, i) => isSampled(i + 1, every))

/** Whether to run what takes minutes and few changes can break: at an effort of 5 and above. */
export const IS_THOROUGH = EFFORT >= 5

/** A test that runs only in a thorough run. */
export const thoroughTest = IS_THOROUGH ? test : test.skip
