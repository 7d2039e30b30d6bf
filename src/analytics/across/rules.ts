/** The rules of a request across projects that its schema cannot express. */
import type { AcrossRequest } from '../../contract/across-projects.js'
import type { AnalyticsQueryRequest, FieldError, Interval } from '../../contract/api.js'
import { countBuckets, hasTooManyBuckets, listZonedBuckets } from '../request/buckets.js'
import { RULES, type Rule } from '../request/cross-field-rules.js'
import type { Period } from '../request/period.js'
import { MAX_SERIES_ROWS } from '../request/then-by.js'
import { listFilters } from '../request/walk-filters.js'

/** How many projects a request may name, or an organisation have. */
export const MAX_PROJECTS = 1_000

/** Returns the query that is asked about each project, without its series. */
export const toQueryRequest = ({
  projects: _projects,
  org: _org,
  interval: _interval,
  ...same
}: AcrossRequest): AnalyticsQueryRequest => ({ ...same, group_by: [], order_by: [] })

/** Returns the interval by which a query asks for the series. */
export const toInterval = (interval: NonNullable<AcrossRequest['interval']>): Interval =>
  `interval:${interval}`

/** The fields that mean what they mean in a query. */
const SHARED_FIELDS = ['time_zone', 'date_range', 'compare', 'compare_align', 'filters'] as const
type SharedField = (typeof SHARED_FIELDS)[number]

const isShared = (field: string): field is SharedField =>
  SHARED_FIELDS.some((shared) => shared === field)

export const ACROSS_RULES: readonly Rule<AcrossRequest>[] = [
  { fields: ['projects', 'org'], check: checkProjects },
  ...RULES.filter(({ fields }) => fields.every(isShared)).map(
    ({ fields, check }): Rule<AcrossRequest> => ({
      fields: fields.filter(isShared),
      check: (request) => check(toQueryRequest(request)),
    }),
  ),
  { fields: ['metrics', 'order_by'], check: checkOrder },
  { fields: ['filters'], check: checkSegments },
]

/** Each project has segments of its own. */
function checkSegments({ filters }: AcrossRequest): readonly FieldError[] {
  const message = 'must not be a segment: each project has its own'
  return listFilters(filters).flatMap(({ filter, field }) =>
    'type' in filter && filter.type === 'segment' ? [{ field, message }] : [],
  )
}

function checkProjects({ projects, org }: AcrossRequest): readonly FieldError[] {
  if (projects === undefined) return []
  if (org !== undefined) {
    return [{ field: 'org', message: 'must not be sent with projects: choose one of them' }]
  }
  if (projects.length > MAX_PROJECTS) {
    return [{ field: 'projects', message: `must have at most ${MAX_PROJECTS} ids` }]
  }
  const firsts = new Map(projects.map((id, i) => [id, i] as const).reverse())
  return projects.flatMap((id, i) =>
    firsts.get(id) === i
      ? []
      : [{ field: `projects.${i}`, message: `must not repeat ${JSON.stringify(id)}` }],
  )
}

function checkOrder({ metrics, order_by: order }: AcrossRequest): readonly FieldError[] {
  const columns: readonly string[] = [...metrics, 'project']
  return order.flatMap(([column], i) =>
    columns.includes(column)
      ? []
      : [
          {
            field: `order_by.${i}.0`,
            message: `must be a metric of this query or project, one of: ${columns.join(', ')}`,
          },
        ],
  )
}

/**
 * Checks that the series of a page have few buckets, each and together.
 *
 * @param rows how many rows the page has at most
 */
export function checkSeries(
  { interval, time_zone: zone = 'UTC' }: AcrossRequest,
  period: Period,
  rows: number,
): readonly FieldError[] {
  if (interval === undefined) return []
  if (hasTooManyBuckets(interval, period, zone)) {
    const message =
      'divides the period into too many buckets: choose a larger interval or a shorter date_range'
    return [{ field: 'interval', message }]
  }
  const buckets = countBuckets(interval, period, listZonedBuckets(interval, period, zone))
  if (rows * buckets <= MAX_SERIES_ROWS) return []
  const most = Math.max(1, Math.floor(MAX_SERIES_ROWS / buckets))
  const message = `times ${buckets} buckets is more than ${MAX_SERIES_ROWS}: choose at most ${most}, or a larger interval`
  return [{ field: 'limit', message }]
}
