/** Builds the rows of a response across projects: their order, and the buckets of their series. */
import type { AcrossBucket, AcrossRequest, AcrossRow } from '../../contract/across-projects.js'
import { describeMetric, type MetricKey } from '../../model/metrics.js'
import { numberBuckets } from '../request/buckets.js'
import type { Query } from '../request/query.js'
import { createShaper, shapeMetrics, type StoredRow } from '../response.js'

/** Builds the row of a project. */
export const shapeProject = (query: Query, row: StoredRow): AcrossRow => ({
  project: String(row.group_key),
  ...shapeMetrics(query, row),
})

/** Orders rows as a query orders its groups: nulls last, and the ids of projects decide among equals. */
export function orderProjects(
  rows: readonly AcrossRow[],
  { order_by: [order], metrics: [first = 'users'] }: Pick<AcrossRequest, 'order_by' | 'metrics'>,
): readonly AcrossRow[] {
  const [column, direction] = order ?? [first, 'desc']
  const sign = direction === 'asc' ? 1 : -1
  if (column === 'project') {
    return rows.toSorted((one, other) => sign * compare(one.project, other.project))
  }
  return rows.toSorted((one, other) => {
    const [value, otherValue] = [readMetric(one, column), readMetric(other, column)]
    const isFirst = compare(Number(value === null), Number(otherValue === null))
    const byValue = value === null || otherValue === null ? 0 : sign * (value - otherValue)
    return isFirst || byValue || compare(one.project, other.project)
  })
}

/** Reads the value of a metric, whose name the rules have checked. */
const readMetric = ({ metrics }: AcrossRow, name: string): number | null =>
  (metrics as Readonly<Record<string, number | null>>)[name] ?? null

const compare = <Value extends string | number>(one: Value, other: Value): number => {
  if (one === other) return 0
  return one < other ? -1 : 1
}

/** Builds the series of projects from the rows of their buckets. A bucket without events has no row. */
export function shapeSeries(
  query: Query,
  rows: readonly StoredRow[],
): ReadonlyMap<string, readonly AcrossBucket[]> {
  const buckets = listBuckets(query)
  const empty = createEmptyRow(query)
  const shape = createShaper(query)
  const found = new Map(query.projectIds.map((id) => [id, new Map<number, StoredRow>()] as const))
  for (const row of rows) found.get(row.then_key ?? '')?.set(Number(row.group_key), row)
  const shapeBucket = (row: StoredRow): AcrossBucket => {
    const { group, metrics } = shape(row)
    return { date: group['date'] ?? '', metrics }
  }
  return new Map(
    [...found].map(([id, own]) => [
      id,
      buckets.map((key) => shapeBucket(own.get(key) ?? { ...empty, group_key: key })),
    ]),
  )
}

/** Lists the keys of the buckets of a series, ascending. */
function listBuckets({ grouping, period }: Query): readonly number[] {
  if (grouping.kind !== 'interval') throw new TypeError('only a time series has buckets')
  if (grouping.zoned !== undefined) return grouping.zoned.starts
  const [first, last] = numberBuckets(grouping.granularity, period)
  return Array.from({ length: last - first + 1 }, (_, i) => first + i)
}

/** Returns the metrics of a bucket without events: counts are 0, and ratios null. */
const createEmptyRow = ({ metrics }: Query): Partial<Record<MetricKey, number | null>> =>
  Object.fromEntries(
    metrics.map(describeMetric).map(({ key, isCount }) => [key, isCount ? 0 : null]),
  )
