/** The questions as services of this field usually ask them: of raw events, a statement a metric. */
import {
  and,
  sql,
  statement,
  string,
  time,
  type Sql,
  type Statement,
} from '../../src/clickhouse/sql.js'
import type { Question } from './queries.js'

/** The statements of a question, to be run one after another. */
export function asUsual(question: Question): readonly Statement[] {
  const { event, visitOfEvents } = question.shape
  const ofEvents = [
    counted(question, sql`uniqExact(user)`, sql`true`),
    counted(question, sql`count()`, sql`name = 'pageview'`),
    counted(question, sql`count()`, sql`name != 'pageview'`),
  ]
  const hasVisits = event === undefined || visitOfEvents !== undefined
  const ofVisits = hasVisits
    ? [
        visited(question, sql`100 * countIf(pageviews = 1 AND others = 0) / count()`),
        visited(question, sql`avg(last - first)`),
      ]
    : []
  return [...ofEvents, ...ofVisits].map((one) => statement(one))
}

/** A metric of events. */
function counted(question: Question, value: Sql, condition: Sql): Sql {
  const { shape, period } = question
  const key = shape.event?.(period)
  return sql`
SELECT ${key ?? sql`''`} AS key, ${value} AS value
FROM ${rows(question, and([shape.isEvent, condition]))} ${ending(question)}`
}

/** A metric of visits, which are put together from their events. */
function visited(question: Question, value: Sql): Sql {
  const { shape, period } = question
  return sql`
SELECT key, ${value} AS value
FROM (
  SELECT
    session, ${shape.visitOfEvents?.(period) ?? sql`''`} AS key,
    countIf(name = 'pageview') AS pageviews, countIf(name != 'pageview') AS others,
    min(timestamp) AS first, max(timestamp) AS last
  FROM ${rows(question, shape.isEvent)}
  GROUP BY session HAVING pageviews > 0
) GROUP BY key ${order(question)}`
}

const rows = ({ project, period }: Question, condition: Sql): Sql =>
  sql`events WHERE ${and([
    sql`project_id = ${string(project)}`,
    sql`timestamp >= ${time(period.start)}`,
    sql`timestamp < ${time(period.end)}`,
    condition,
  ])}`

const order = ({ shape }: Question): Sql =>
  sql`ORDER BY ${shape.isSeries === true ? sql`key` : sql`value DESC`} LIMIT 100`

const ending = (question: Question): Sql =>
  question.shape.event === undefined ? sql`` : sql`GROUP BY key ${order(question)}`
