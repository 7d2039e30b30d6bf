/** Lists the steps of a plan: what each reads, and of how many groups. */
import type { Plan, Scan } from './plan.js'

/** A step of a plan: what it reads, and of how many groups. */
export interface Step {
  readonly scans: readonly Scan[]
  readonly keys: number
}

/** How many groups are counted for each row up to the end of the page, if it is ordered by users: measured on log-uniform data. */
const CANDIDATES_PER_ROW = 2.5

/** Lists the steps of a plan that count the users of some groups only. */
export function listCountingSteps({
  userCounting,
  query: { limit, offset },
}: Plan): readonly Step[] {
  if (userCounting.kind === 'all') return []
  const { kind, scans } = userCounting
  if (kind === 'page') return [{ scans, keys: limit }]
  // The groups with the most events are counted first, then the others. Together they are as many as estimated here.
  return [(limit + offset) * CANDIDATES_PER_ROW, 0].map((keys) => ({ scans, keys }))
}
