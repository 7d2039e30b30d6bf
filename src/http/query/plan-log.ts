/** Logs the plan of a query, which shows why the query is slow. */
import { describePlan, type Plan } from '../../analytics/plan/plan.js'
import type { Logger } from '../../lib/log.js'
import { isRecord, mapRecord } from '../../lib/records.js'
import { PROPERTY_PREFIX } from '../../contract/filter-fields.js'

/**
 * Logs at debug level which relations a query reads, and why cheaper ones were rejected.
 *
 * @param logger the logger of the request, which adds the request's id
 */
export function logPlan(logger: Logger, plan: Plan): void {
  if (!logger.isLevelEnabled('debug')) return
  logger.debug({ plan: hideProperties(describePlan(plan)) }, 'planned')
}

/** Hides the names of properties in all texts of a description. */
function hideProperties(value: unknown): unknown {
  if (typeof value === 'string') return hidePropertyNames(value)
  if (Array.isArray(value)) return value.map(hideProperties)
  return isRecord(value) ? mapRecord(value, (_name, part) => hideProperties(part)) : value
}

/** Cuts a text off after the first `event:prop:`. Property names come from clients and may hold anything. */
function hidePropertyNames(text: string): string {
  const [known = '', ...cut] = text.split(PROPERTY_PREFIX)
  return cut.length === 0 ? text : `${known}${PROPERTY_PREFIX}…`
}
