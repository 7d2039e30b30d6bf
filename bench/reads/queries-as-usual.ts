/** The queries as such services usually write them: one statement per metric on the raw events. */
import {
  and,
  sql,
  statement,
  string,
  time,
  type Sql,
  type Statement,
} from '../../src/clickhouse/sql.js'
import type { BenchQuery } from './queries.js'

/** Builds the statements of a query, to be run one after another. */
export function buildUsualStatements(query: BenchQuery): readonly Statement[] {
  const { event, visitOfEvents } = query.shape
  const onEvents = [
    selectEventMetric(query, sql`uniqExact(user)`, sql`true`),
    selectEventMetric(query, sql`count()`, sql`name = 'pageview'`),
    selectEventMetric(query, sql`count()`, sql`name != 'pageview'`),
  ]
  const hasVisits = event === undefined || visitOfEvents !== undefined
  const onVisits = hasVisits
    ? [
        selectVisitMetric(query, sql`100 * countIf(pageviews = 1 AND others = 0) / count()`),
        selectVisitMetric(query, sql`avg(last - first)`),
      ]
    : []
  return [...onEvents, ...onVisits].map((one) => statement(one))
}

/** Selects a metric of events. */
function selectEventMetric(query: BenchQuery, value: Sql, condition: Sql): Sql {
  const { shape, period } = query
  const key = shape.event?.(period)
  return sql`
SELECT ${key ?? sql`''`} AS key, ${value} AS value
FROM ${selectRows(query, and([shape.isEvent, condition]))} ${writeGroupBy(query)}`
}

/** Selects a metric of visits, which are built from their events. */
function selectVisitMetric(query: BenchQuery, value: Sql): Sql {
  const { shape, period } = query
  return sql`
SELECT key, ${value} AS value
FROM (
  SELECT
    session, ${shape.visitOfEvents?.(period) ?? sql`''`} AS key,
    countIf(name = 'pageview') AS pageviews, countIf(name != 'pageview') AS others,
    min(timestamp) AS first, max(timestamp) AS last
  FROM ${selectRows(query, shape.isEvent)}
  GROUP BY session HAVING pageviews > 0
) GROUP BY key ${writeOrder(query)}`
}

const selectRows = ({ project, period }: BenchQuery, condition: Sql): Sql =>
  sql`events WHERE ${and([
    sql`project_id = ${string(project)}`,
    sql`timestamp >= ${time(period.start)}`,
    sql`timestamp < ${time(period.end)}`,
    condition,
  ])}`

const writeOrder = ({ shape }: BenchQuery): Sql =>
  sql`ORDER BY ${shape.isSeries === true ? sql`key` : sql`value DESC`} LIMIT 100`

const writeGroupBy = (query: BenchQuery): Sql =>
  query.shape.event === undefined ? sql`` : sql`GROUP BY key ${writeOrder(query)}`
