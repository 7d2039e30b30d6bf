/** Describes answers as tables. */
import type { StreamedAnswer } from '../../analytics/stream-analytics.js'
import { isInterval } from '../../analytics/request/intervals.js'
import type {
  AnalyticsQueryResponse,
  FunnelResponse,
  FunnelStepResult,
  GroupBy,
  Metric,
  Period,
  RetentionResponse,
  Row,
  ValuesResponse,
} from '../../contract/api.js'
import { METRICS } from '../../model/metrics.js'
import type { Cell, Column, Facts, Table } from './table.js'

/** A response without its rows. */
export type AnswerHead = Pick<
  AnalyticsQueryResponse,
  'period' | 'query' | 'comparison' | 'totals'
> & {
  readonly pagination: Omit<AnalyticsQueryResponse['pagination'], 'limit' | 'returned'> & {
    readonly limit: number | 'all'
  }
}

/** A column, and where its cells are in the rows of the JSON. */
interface SourceColumn<Source> extends Column {
  readonly read: (row: Source) => Cell | undefined
}

/** Describes the answer to a query. @param batches the rows of the JSON, some at a time */
export const describeAnswer = (
  head: AnswerHead,
  batches: AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>,
): Table =>
  createTable(listColumns(head), batches, {
    period: writePeriod(head.period),
    total: String(head.pagination.total),
    limit: String(head.pagination.limit),
    offset: String(head.pagination.offset),
    ...(head.comparison === undefined ? {} : { comparison: writePeriod(head.comparison.period) }),
    ...(head.totals === undefined ? {} : { totals: JSON.stringify(head.totals) }),
  })

/** Describes the response to a query. */
export const describeResponse = ({ data, ...head }: AnalyticsQueryResponse): Table =>
  describeAnswer(head, [data])

/** Describes an answer whose rows are on their way. */
export const describeStream = ({ batches, total, ...head }: StreamedAnswer): Table =>
  describeAnswer(
    { ...head, pagination: { limit: 'all', offset: head.query.offset, total } },
    batches,
  )

/** Describes the values of a field. */
export const describeValues = ({ period, pagination, data }: ValuesResponse): Table =>
  createTable(VALUE_COLUMNS, [data], {
    period: writePeriod(period),
    total: String(pagination.total),
    limit: String(pagination.limit),
    offset: String(pagination.offset),
  })

const VALUE_COLUMNS: readonly SourceColumn<ValuesResponse['data'][number]>[] = [
  { name: 'value', type: 'text', read: ({ value }) => value },
  { name: 'pageviews', type: 'integer', read: ({ pageviews }) => pageviews },
  { name: 'events', type: 'integer', read: ({ events }) => events },
]

/** Describes a retention table: a row for each cohort and each interval from its own on, in which its users are its size. */
export const describeRetention = ({ period, data }: RetentionResponse): Table => {
  const rows = data.flatMap(({ start, size, counts }) =>
    [size, ...counts].map((users, interval): CohortCell => ({ start, size, interval, users })),
  )
  return createTable(COHORT_COLUMNS, [rows], {
    period: writePeriod(period),
    total: String(rows.length),
  })
}

interface CohortCell {
  readonly start: string
  readonly size: number | null
  /** How many intervals after the one of the cohort. */
  readonly interval: number
  readonly users: number | null
}

const COHORT_COLUMNS: readonly SourceColumn<CohortCell>[] = [
  { name: 'cohort', type: 'text', read: ({ start }) => start },
  { name: 'size', type: 'integer', read: ({ size }) => size },
  { name: 'interval', type: 'integer', read: ({ interval }) => interval },
  { name: 'users', type: 'integer', read: ({ users }) => users },
]

/** Describes the steps of a funnel. */
export const describeFunnel = ({ period, data }: FunnelResponse): Table =>
  createTable(STEP_COLUMNS, [data], { period: writePeriod(period), total: String(data.length) })

const STEP_COLUMNS: readonly SourceColumn<FunnelStepResult>[] = [
  { name: 'step', type: 'integer', read: ({ step }) => step },
  { name: 'users', type: 'integer', read: ({ users }) => users },
  { name: 'share_of_first', type: 'number', read: ({ share_of_first }) => share_of_first },
  { name: 'share_of_previous', type: 'number', read: ({ share_of_previous }) => share_of_previous },
  { name: 'median_seconds', type: 'number', read: ({ median_seconds }) => median_seconds },
]

/** Writes a period as ISO 8601 does an interval; but both ends are included. */
const writePeriod = ({ from, to }: Period): string => `${from}/${to}`

/** Lists the columns of the answer to a query: the keys of its groups, its metrics, and those of the comparison. */
const listColumns = ({
  query: { group_by: groupBy, then_by: thenBy = [], metrics },
  comparison,
}: AnswerHead): readonly SourceColumn<Row>[] => [
  ...[...groupBy, ...thenBy].map(toGroupColumn),
  ...metrics.map(toMetricColumn),
  ...(comparison === undefined
    ? []
    : [...metrics.map(toComparedColumn), ...metrics.map(toChangeColumn)]),
]

function toGroupColumn(token: GroupBy): SourceColumn<Row> {
  const name = isInterval(token) ? 'date' : token
  return { name, type: 'text', read: ({ group }) => group[name] }
}

const toMetricColumn = (name: Metric): SourceColumn<Row> => ({
  name,
  type: METRICS[name].isCount ? 'integer' : 'number',
  read: ({ metrics }) => metrics[name],
})

const toComparedColumn = (name: Metric): SourceColumn<Row> => ({
  name: `comparison_${name}`,
  type: toMetricColumn(name).type,
  read: ({ comparison }) => comparison?.metrics[name],
})

const toChangeColumn = (name: Metric): SourceColumn<Row> => ({
  name: `comparison_change_${name}`,
  type: 'number',
  read: ({ comparison }) => comparison?.change[name],
})

const createTable = <Source>(
  columns: readonly SourceColumn<Source>[],
  batches: AsyncIterable<readonly Source[]> | Iterable<readonly Source[]>,
  facts: Facts,
): Table => ({
  columns: columns.map(({ name, type }) => ({ name, type })),
  facts,
  batches: readBatches(columns, batches),
})

async function* readBatches<Source>(
  columns: readonly SourceColumn<Source>[],
  batches: AsyncIterable<readonly Source[]> | Iterable<readonly Source[]>,
): Table['batches'] {
  for await (const rows of batches) {
    yield rows.map((row) => columns.map(({ read }) => read(row) ?? null))
  }
}
