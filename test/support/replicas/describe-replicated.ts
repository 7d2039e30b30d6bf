/** Describes tests that need replicas. */
import { describe } from '@jest/globals'
import { findMissing } from './replicas.js'

/** Describes tests that need replicas. Where none can run they are skipped, and their name says why. */
export function describeReplicated(name: string, tests: () => void): void {
  const missing = findMissing()
  if (missing === undefined) describe(name, tests)
  else describe.skip(`${name} (${missing})`, tests)
}
