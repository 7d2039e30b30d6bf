/** Finds the cost of each unit of work that fits the measured plans best. */
import { addCosts, UNITS, type Unit, type Work } from '../../src/analytics/plan/cost.js'
import { buildRecord } from '../../src/lib/records.js'

/** A plan that was measured. */
export interface Sample {
  readonly work: Work
  readonly cpuMs: number
}

/**
 * Finds costs that are not negative and minimize the sum of the squared relative errors, by descent in one cost after
 * another.
 */
export function fitCosts(samples: readonly Sample[]): Record<Unit, number> {
  const costs: Record<Unit, number> = { ...buildRecord(UNITS, () => 0) }
  for (let i = 0; i < 3_000; i++) {
    for (const unit of UNITS) {
      let [numerator, denominator] = [0, 0]
      for (const { work, cpuMs } of samples) {
        const rest = (cpuMs - addCosts(work, costs)) * 1_000 + work[unit] * costs[unit]
        numerator += (work[unit] * rest) / cpuMs ** 2
        denominator += (work[unit] / cpuMs) ** 2
      }
      if (denominator > 0) costs[unit] = Math.max(0, numerator / denominator)
    }
  }
  return costs
}
