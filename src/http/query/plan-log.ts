/** Logs how a question is answered, for whoever looks into a slow one. */
import { describePlan } from '../../analytics/plan/describe.js'
import type { Plan } from '../../analytics/plan/planner.js'
import { PROPERTY_PREFIX } from '../../model/dimensions.js'
import type { Logger } from '../../lib/log.js'

/**
 * Logs which relations are read and why no cheaper ones, at debug level.
 *
 * @param logger that of the request: the line bears its id
 */
export function logPlan(logger: Logger, plan: Plan): void {
  if (!logger.isLevelEnabled('debug')) return
  const { reads, passedOver, ...rest } = describePlan(plan)
  logger.debug(
    {
      plan: {
        ...rest,
        reads: reads.map(({ dimension, ...read }) => ({
          ...read,
          ...(dimension === undefined ? {} : { dimension: withoutNames(dimension) }),
        })),
        passedOver: passedOver.map((one) => ({ ...one, why: withoutNames(one.why) })),
      },
    },
    'planned',
  )
}

/** The names of event properties are text of the caller, which may hold anything: the rest is cut off. */
function withoutNames(text: string): string {
  const [known = '', ...cut] = text.split(PROPERTY_PREFIX)
  return cut.length === 0 ? text : `${known}${PROPERTY_PREFIX}…`
}
