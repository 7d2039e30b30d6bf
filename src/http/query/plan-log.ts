/** Logs the plan of a query, which shows why the query is slow. */
import { describePlan, type PlanDescription } from '../../analytics/plan/describe.js'
import type { Plan } from '../../analytics/plan/plan.js'
import type { Logger } from '../../lib/log.js'
import { mapRecord } from '../../lib/records.js'
import { PROPERTY_PREFIX } from '../../model/dimensions.js'

/**
 * Logs at debug level which relations a query reads, and why cheaper ones were rejected.
 *
 * @param logger the logger of the request, which adds the request's id
 */
export function logPlan(logger: Logger, plan: Plan): void {
  if (!logger.isLevelEnabled('debug')) return
  logger.debug({ plan: hideProperties(describePlan(plan)) }, 'planned')
}

const hideProperties = ({
  reads,
  rejected,
  totals,
  ranking,
  newUsers,
  comparison,
  ...rest
}: PlanDescription): object => ({
  ...rest,
  reads: reads.map(({ dimension, ...read }) => ({
    ...read,
    ...(dimension === undefined ? {} : { dimension: hidePropertyNames(dimension) }),
  })),
  rejected: rejected.map((one) => ({ ...one, reason: hidePropertyNames(one.reason) })),
  ...(newUsers === undefined ? {} : { newUsers: hideAll({ ...newUsers }) }),
  ...(totals === undefined ? {} : { totals: hideProperties(totals) }),
  ...(comparison === undefined ? {} : { comparison: hideProperties(comparison) }),
  ...(ranking === undefined ? {} : { ranking: hideProperties(ranking) }),
})

const hideAll = (parts: Readonly<Record<string, PlanDescription>>): object =>
  mapRecord(parts, (_name, part) => hideProperties(part))

/** Cuts a text off after the first `event:prop:`. Property names come from clients and may hold anything. */
function hidePropertyNames(text: string): string {
  const [known = '', ...cut] = text.split(PROPERTY_PREFIX)
  return cut.length === 0 ? text : `${known}${PROPERTY_PREFIX}…`
}
