/** Statements by hand that no other benchmark has, on the facts of the large project. */
import { sql, statement, string, time, type Sql, type Statement } from '../../src/clickhouse/sql.js'
import { addDays } from '../../src/lib/time.js'
import { LARGE } from '../reads/generate.js'
import { MONTH, YEAR, type BenchPeriod } from '../reads/periods.js'

export const IN_PROJECT = sql`project_id = ${string(LARGE)}`

/** The events of a period. */
export const writeEvents = ({ start, end }: Pick<BenchPeriod, 'start' | 'end'>): Sql =>
  sql`events WHERE ${IN_PROJECT} AND timestamp >= ${time(start)} AND timestamp < ${time(end)}`

/** Whether a row is of a visit that saw a page. A visit at an edge of the period saw it before or after as well. */
export const VISITS_TO_PAGE = sql`session IN (SELECT session FROM ${writeEvents({
  start: addDays(MONTH.start, -1),
  end: addDays(MONTH.end, 1),
})} AND path = '/section/7')`

/** Selects countries with their browsers, with users counted in two ways. */
export const selectPairs = (): readonly Statement[] =>
  [sql`uniqExact(user)`, sql`groupBitmap(user)`].map((users) =>
    statement(sql`
SELECT
  country, browser, toInt64(${users}) AS users, toInt64(countIf(name = 'pageview')) AS pageviews,
  toInt64(countIf(name != 'pageview')) AS others
FROM ${writeEvents(MONTH)} GROUP BY country, browser ORDER BY users DESC, country, browser LIMIT 100`),
  )

/** Selects the users by the day of their first event. */
export const selectFirstEvents = (): Statement =>
  statement(sql`
SELECT first AS key, toInt64(count()) AS users
FROM (
  SELECT user, min(day) AS first FROM events WHERE ${IN_PROJECT} AND timestamp < ${time(MONTH.end)} GROUP BY user
)
WHERE first >= toDate(${time(MONTH.start)}) GROUP BY key ORDER BY key`)

/** Selects the users by the month of their first event, and by the months in which they came. */
export const selectCohorts = (): Statement =>
  statement(sql`
SELECT toInt64(arrayMin(came)) AS cohort, toInt64(arrayJoin(came)) AS month, toInt64(count()) AS users
FROM (
  SELECT user, bitPositionsToArray(groupBitOr(bitShiftLeft(toUInt16(1), toMonth(day) - 1))) AS came
  FROM ${writeEvents(YEAR)} GROUP BY user
)
GROUP BY cohort, month ORDER BY cohort, month`)
