/** Filters by visits, orders by difference, four groupings and conditions on metrics, beside simpler questions and statements by hand. */
import { sql, statement } from '../../src/clickhouse/sql.js'
import { MONTH, QUARTER, YEAR, type BenchPeriod } from '../reads/periods.js'
import { VISITS_WITH_EVENT } from '../reads/queries.js'
import type { Pair } from './pair.js'
import { byHand, checkRows, query, type Asked } from './questions.js'
import { writeEvents } from './statements.js'

const VISITS: readonly Pair[] = VISITS_WITH_EVENT.map((shape) => ({
  name: `12 months, ${shape.name}`,
  request: query(YEAR, shape.request),
  beside: byHand(YEAR, shape),
}))

const compareOrder = (period: BenchPeriod, asked: Asked, name: string): Pair => {
  const compared: Asked = { ...asked, compare: 'previous_period' }
  return {
    name: `${period.name}, ${name}, compared, ordered by difference`,
    request: query(period, { ...compared, order_by: [['difference:users', 'asc']] }),
    beside: { name: 'without the order', request: query(period, compared) },
    target: { cpuTimes: 1.3 },
  }
}
const ORDERS: readonly Pair[] = [MONTH, QUARTER].flatMap((period) => [
  compareOrder(period, { group_by: ['country'] }, 'by country'),
  compareOrder(period, { group_by: ['page:path'] }, 'by path'),
])

const FOUR = sql`country, browser, device_type, os`
const compareGroupings = (period: BenchPeriod): Pair => ({
  name: `${period.name}, by country, browser, device type and os`,
  request: query(period, {
    group_by: ['country'],
    then_by: ['browser', 'device_type', 'os'],
    metrics: ['users', 'pageviews', 'events'],
  }),
  beside: {
    name: 'by hand',
    ways: [sql`uniqExact(user)`, sql`groupBitmap(user)`].map((users) =>
      statement(sql`
SELECT
  ${FOUR}, toInt64(${users}) AS users, toInt64(countIf(name = 'pageview')) AS pageviews,
  toInt64(countIf(name != 'pageview')) AS others
FROM ${writeEvents(period)} GROUP BY ${FOUR} ORDER BY users DESC, ${FOUR} LIMIT 100`),
    ),
    check: checkRows,
  },
})

const compareHaving = (period: BenchPeriod): Pair => ({
  name: `${period.name}, by path, with at least 100 users`,
  request: query(period, { group_by: ['page:path'], having: [['users', 'gte', 100]] }),
  beside: { name: 'all paths', request: query(period, { group_by: ['page:path'] }) },
})

export const WORD_PAIRS: readonly Pair[] = [
  ...VISITS,
  ...ORDERS,
  ...[MONTH, YEAR].map(compareGroupings),
  ...[MONTH, YEAR].map(compareHaving),
]
