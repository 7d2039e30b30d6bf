/**
 * Splits repeated work between the runs of the tests: `make test` and `make test-long` do a sample of it, and `make test-deep`
 * does the rest. A file that imports this module takes part in both.
 */

import { test } from '@jest/globals'

/** Whether this is the run that does the rest (see jest.config.js). */
const IS_DEEP = process.env['TESTS'] === 'deep'

/** Picks a number for this run. The environment variable of that name, if set, decides instead. */
export const amount = (
  variable: string,
  { short, deep }: { readonly short: number; readonly deep: number },
): number => Number(process.env[variable] ?? (IS_DEEP ? deep : short))

/** Whether the nth step of a loop belongs to this run: one in `every` is in the sample. */
export const isInThisRun = (n: number, every: number): boolean => (n % every === 1) !== IS_DEEP

/** The items of a list that belong to this run: the first of each `every` are in the sample. */
export const ofThisRun = <T>(items: readonly T[], every: number): readonly T[] =>
  items.filter((_, i) => isInThisRun(i + 1, every))

/** `test` in the sample, `test.skip` in the deep run. */
export const shortTest = IS_DEEP ? test.skip : test

/** `test` in the deep run, `test.skip` in the sample. */
export const deepTest = IS_DEEP ? test : test.skip
