/** Builds questions to the query operation, and compares their answers with rows by hand. */
import { isDeepStrictEqual } from 'node:util'
import type { AnalyticsQueryRequest, AnalyticsQueryResponse } from '../../src/contract/api.js'
import { LARGE } from '../reads/generate.js'
import type { BenchPeriod } from '../reads/periods.js'
import { listWays } from '../reads/queries-by-hand.js'
import type { Shape } from '../reads/queries.js'
import type { BenchRequest } from '../shared/service.js'
import type { ByHand, HandRow } from './pair.js'

const METRICS = ['users', 'pageviews', 'events', 'bounce_rate', 'visit_duration'] as const
export type Asked = Partial<AnalyticsQueryRequest>

/** Builds a request with all five metrics, unless others are asked for. */
export const query = ({ range }: BenchPeriod, asked: Asked, accept?: string): BenchRequest => ({
  path: '/v1/analytics/query',
  body: JSON.stringify({ date_range: range, metrics: METRICS, ...asked }),
  ...(accept === undefined ? {} : { accept }),
})

/** Lists the rows of an answer: the keys of the group, the days of buckets alone, and then the metrics. A total has an empty key. */
const listRows = (answer: string): readonly (readonly unknown[])[] =>
  (JSON.parse(answer) as AnalyticsQueryResponse).data.map(({ group, metrics }) => [
    ...(Object.keys(group).length === 0 ? [''] : []),
    ...Object.entries(group).map(([name, key]) => (name === 'date' ? key.slice(0, 10) : key)),
    ...Object.values(metrics),
  ])

/** @throws Error when the rows by hand are others */
export function checkRows(answer: string, rows: readonly HandRow[]): void {
  const [actual, expected] = [listRows(answer), rows.map((row) => Object.values(row))]
  const at = actual.findIndex((row, i) => !isDeepStrictEqual(row, expected[i]))
  if (at < 0 && actual.length === expected.length) return
  const [one, other] = [actual, expected].map((all) => JSON.stringify(all[at]))
  throw new Error(
    `row ${at} is ${one}, by hand ${other}; ${actual.length} and ${expected.length} rows`,
  )
}

/** The statements by hand of the other benchmark. */
export const byHand = (period: BenchPeriod, shape: Shape): ByHand => ({
  name: 'by hand',
  ways: listWays({ project: LARGE, period, shape, hasUsual: false }).map((way) => way.statement),
  check: checkRows,
})
