/**
 * Splits repeated work between two runs of the tests: `make test` does a sample of it, and
 * `make test-deep` does the rest. Files named `*.sampled.test.ts` take part in both runs.
 */

import { test } from '@jest/globals'

/** Whether this is another run than `make test`: those set TESTS. */
const IS_LONG = process.env['TESTS'] !== undefined

/** Picks a number for this run. The environment variable of that name, if set, decides instead. */
export const amount = (
  variable: string,
  { short, long }: { readonly short: number; readonly long: number },
): number => Number(process.env[variable] ?? (IS_LONG ? long : short))

/** Whether the nth step of a loop belongs to this run: one in `every` is in `make test`. */
export const isInThisRun = (n: number, every: number): boolean => (n % every === 1) !== IS_LONG

/** The items of a list that belong to this run: the first of each `every` are in `make test`. */
export const ofThisRun = <T>(items: readonly T[], every: number): readonly T[] =>
  items.filter((_, i) => isInThisRun(i + 1, every))

/** `test` in `make test`, `test.skip` in the other run: for a single case in a sampled file. */
export const shortTest = IS_LONG ? test.skip : test

/** `test` in the other run, `test.skip` in `make test`. */
export const longTest = IS_LONG ? test : test.skip
