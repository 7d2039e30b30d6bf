/** Lists the steps of a plan: what each reads, and of how many groups. */
import { mergeSteps, type Plan, type Scan } from './plan.js'

/** A step of a plan: what it reads, and of how many groups; undefined: of all. */
export interface Step {
  readonly scans: readonly Scan[]
  readonly keys: number | undefined
}

/** How many groups are counted for each row up to the end of the page, if it is ordered by users: measured on log-uniform data. */
const CANDIDATES_PER_ROW = 2.5

/** Lists the steps of a plan on one shard that count the users of some groups only. */
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

/**
 * For how many groups a round across shards counts users at once, for each row up to the end of the page, if it is ordered by
 * users. They are more than the candidates mostly are, because another round costs more.
 */
export const COUNTED_PER_ROW = 4

/** Lists the steps of a plan across shards: each is a statement of its own, and the later ones repeat the first for their groups. */
export function listRounds(plan: Plan): readonly Step[] {
  const { scans, userCounting, query } = plan
  const first = { scans, keys: undefined }
  if (userCounting.kind === 'all') return [first]
  const { limit, offset } = query
  const keys = userCounting.kind === 'page' ? limit : (limit + offset) * COUNTED_PER_ROW
  return [first, { scans: mergeSteps(plan), keys }]
}
