/** What a response says about the numbers that its metrics are computed from, and why it may be refused for them. */
import type { AnalyticsQueryResponse } from '../contract/api.js'
import { createValidationError } from '../contract/errors.js'
import { PROPERTY_PREFIX } from '../contract/filter-fields.js'
import { isNumberMetric } from '../model/metrics.js'
import type { Query } from './request/query.js'

/** What every row says about the numbers of all of them, by the place of their source. */
export type NumberFacts = Readonly<
  Partial<Record<`numbers_${number}_${'counted' | 'others'}`, number>> &
    Partial<Record<`numbers_${number}_currencies`, readonly string[]>>
>

/**
 * Builds the metadata: how many events of all rows have a number, and how many have something else in the property. They are not known
 * if there are rows, but none on the page. Nothing is built for a query without such metrics.
 *
 * @param row the first row of the page
 * @param total the number of rows of all pages
 */
export function shapeMetadata(
  { metrics }: Pick<Query, 'metrics'>,
  row: NumberFacts | undefined,
  total: number,
): Pick<AnalyticsQueryResponse, 'metadata'> {
  const sources = new Map(
    metrics.filter(isNumberMetric).map((metric) => [metric.place, metric] as const),
  )
  if (sources.size === 0) return {}
  const unknown = row === undefined && total > 0 ? null : 0
  return {
    metadata: {
      numbers: [...sources].map(([place, { property, goalName }]) => ({
        of: `${PROPERTY_PREFIX}${property}`,
        ...(goalName === undefined ? {} : { goal: goalName }),
        counted: row?.[`numbers_${place}_counted`] ?? unknown,
        left_out: row?.[`numbers_${place}_others`] ?? unknown,
      })),
    },
  }
}

/**
 * Checks that no metric adds up amounts in several currencies.
 *
 * @param row any row of the response; none if there is none
 * @throws ApiError VALIDATION_ERROR
 */
export function requireOneCurrency(
  { metrics }: Pick<Query, 'metrics'>,
  row: NumberFacts | undefined,
): void {
  const errors = metrics.flatMap((metric, i) => {
    if (!isNumberMetric(metric) || !metric.isAmount) return []
    const [one, other] = (row?.[`numbers_${metric.place}_currencies`] ?? []).toSorted()
    if (one === undefined || other === undefined) return []
    const message = `has amounts in several currencies, such as ${one} and ${other}: filter by event:prop:currency, group by it without include.totals, or send "money": false if these are no amounts of money`
    return [{ field: `metrics.${i}`, message }]
  })
  if (errors.length > 0) throw createValidationError(errors)
}
