/** Describes tests that need a pair of replicas. */
import { describe } from '@jest/globals'
import { findMissing } from './pair.js'

/** Describes tests that need a pair. Where none can run they are skipped, and their name says why. */
export function describePair(name: string, tests: () => void): void {
  const missing = findMissing()
  if (missing === undefined) describe(name, tests)
  else describe.skip(`${name} (${missing})`, tests)
}
