/** Metrics over the numbers of a property, as aggregates over the events of a group. */
import type {
  AnalyticsQueryRequest,
  AnalyticsQueryResponse,
  NumericMetric,
} from '../../../src/contract/api.js'
import { isConversion } from './goals.js'
import { raw, sql, type Sql } from './sql.js'

const PREFIX = 'event:prop:'

/** A metric, by its place among those of the request. */
export interface PlacedMetric extends NumericMetric {
  readonly place: number
  /** The goal, if the numbers of its conversions alone are meant, and the condition on these. */
  readonly goal?: string
  readonly isMeant?: Sql
}

/** Lists the metrics over numbers: also the values of goals, which are sums. */
export const listNumeric = (
  metrics: AnalyticsQueryRequest['metrics'],
  zone?: string,
): readonly PlacedMetric[] =>
  metrics.flatMap((metric, place): readonly PlacedMetric[] => {
    if (typeof metric === 'string') return []
    if (!('goal' in metric)) return [{ ...metric, place }]
    const { goal, as, value } = metric
    return metric.metric === 'value'
      ? [{ metric: 'sum', of: value!, as, place, goal, isMeant: isConversion(metric, zone) }]
      : []
  })

const name = (kind: string, { place }: PlacedMetric): Sql => raw(`${kind}_${place}`)

/** Selects the text of the property of each metric, and its number, from the rows of `matching`. */
export const selectNumbers = (metrics: readonly PlacedMetric[]): readonly Sql[] =>
  metrics.flatMap((metric) => {
    const found = sql`(SELECT value FROM properties WHERE properties.arrival = matching.arrival AND properties.name = ${metric.of.slice(PREFIX.length)})`
    const text =
      metric.isMeant === undefined ? found : sql`CASE WHEN ${metric.isMeant} THEN ${found} END`
    const decimal = sql`TRY_CAST(${text} AS DECIMAL(38, 18))`
    const isNumber = sql`regexp_full_match(${text}, '-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][+-]?[0-9]+)?') AND abs(${decimal}) < 1000000000000000000`
    return [
      sql`${text} AS ${name('text', metric)}`,
      sql`CASE WHEN ${isNumber} THEN CAST(${decimal} AS DECIMAL(38, 9)) END AS ${name('number', metric)}`,
    ]
  })

/** Aggregates the numbers of a group: the metric, and how many events have one, or something else. */
export const aggregateNumbers = (metrics: readonly PlacedMetric[]): readonly Sql[] =>
  metrics.flatMap((metric) => {
    const [text, number] = [name('text', metric), name('number', metric)]
    return [
      sql`${aggregate(metric, number)} AS ${name('exact', metric)}`,
      sql`count(${number}) AS ${name('counted', metric)}`,
      sql`count(*) FILTER (${text} IS NOT NULL AND ${number} IS NULL) AS ${name('others', metric)}`,
    ]
  })

/** Their columns in the rows of the response. */
export const showNumbers = (metrics: readonly PlacedMetric[]): readonly Sql[] =>
  metrics.flatMap((metric) =>
    ['counted', 'others'].map(
      (kind) => sql`coalesce(${name(kind, metric)}, 0) AS ${name(kind, metric)}`,
    ),
  )

/** Rows are ordered by exact values: several may be shown as the same number. */
export const orderByValue = (metric: PlacedMetric): Sql => {
  const exact = name('exact', metric)
  return metric.metric === 'sum' || metric.metric === 'count' ? sql`coalesce(${exact}, 0)` : exact
}

/** Shows the nearest floating-point number. */
export const showValue = (metric: PlacedMetric): Sql => {
  const unit = metric.metric === 'avg' ? 'e-9' : ''
  return sql`CAST(CAST(${orderByValue(metric)} AS VARCHAR) || ${unit} AS DOUBLE)`
}

/** Aggregates numbers exactly; means as the number of billionths. */
function aggregate({ metric }: NumericMetric, number: Sql): Sql {
  const sum = sql`CAST(replace(CAST(sum(${number}) AS VARCHAR), '.', '') AS HUGEINT)`
  switch (metric) {
    case 'sum':
    case 'min':
    case 'max':
      return sql`${raw(metric)}(${number})`
    case 'count':
      return sql`count(${number})`
    case 'avg':
      return sql`sign(${sum}) * ((2 * abs(${sum}) + count(${number})) // (2 * nullif(count(${number}), 0)))`
    case 'median':
    case 'p75':
    case 'p90':
    case 'p95':
    case 'p99': {
      const level = metric === 'median' ? '50' : metric.slice(1)
      const sorted = sql`list_sort(list(${number}) FILTER (${number} IS NOT NULL))`
      return sql`${sorted}[(${raw(level)} * count(${number}) + 99) // 100]`
    }
    default:
      return metric satisfies never
  }
}

/** Builds the metadata from all rows of a query, and from those of a page. */
export function describeNumbers(
  metrics: readonly PlacedMetric[],
  rows: readonly Readonly<Record<string, string | number | null>>[],
  returned: number,
): Pick<AnalyticsQueryResponse, 'metadata'> {
  const properties = new Map(
    metrics.map((metric) => [JSON.stringify([metric.of, metric.goal]), metric] as const),
  )
  if (properties.size === 0) return {}
  const isUnknown = returned === 0 && rows.length > 0
  const add = (kind: string, { place }: PlacedMetric): number | null =>
    isUnknown ? null : rows.reduce((sum, row) => sum + Number(row[`${kind}_${place}`]), 0)
  return {
    metadata: {
      numbers: [...properties.values()].map((metric) => ({
        of: metric.of,
        ...(metric.goal === undefined ? {} : { goal: metric.goal }),
        counted: add('counted', metric),
        left_out: add('others', metric),
      })),
    },
  }
}
