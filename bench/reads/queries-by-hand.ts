/** The questions as somebody would write them who knows the facts and has no rollups: one exact statement. */
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

/** A way to write a question, named by what tells it from others. */
export interface Way {
  readonly name: string
  readonly statement: Statement
}

/** Ways that differ in nothing but what they cost; the quickest is the one to compare with. */
export function waysOf(question: Question): readonly Way[] {
  const exact = events(question, sql`uniqExact(user)`)
  const bitmap = events(question, sql`groupBitmap(user)`)
  if (!hasVisits(question)) {
    return [
      { name: 'uniqExact', statement: alone(question, exact) },
      { name: 'groupBitmap', statement: alone(question, bitmap) },
    ]
  }
  return [
    { name: 'uniqExact, joined', statement: joined(question, exact) },
    { name: 'uniqExact, united', statement: united(question, exact) },
    { name: 'groupBitmap, united', statement: united(question, bitmap) },
  ]
}

const keyed = (key: Sql | undefined): Sql => key ?? sql`''`
const grouped = ({ shape }: Question): Sql =>
  shape.event === undefined ? sql`` : sql`GROUP BY key`

function eventRows({ project, period, shape }: Question): Sql {
  return sql`events WHERE ${and([
    sql`project_id = ${string(project)}`,
    sql`timestamp >= ${time(period.start)}`,
    sql`timestamp < ${time(period.end)}`,
    shape.isEvent,
  ])}`
}

/** What events tell of each group. */
const events = (question: Question, users: Sql): Sql => sql`
  SELECT
    ${keyed(question.shape.event?.(question.period))} AS key, ${users} AS users,
    countIf(name = 'pageview') AS pageviews, countIf(name != 'pageview') AS others
  FROM ${eventRows(question)} ${grouped(question)}`

/** What sessions tell of each group; a state that was taken back has its row again, with sign -1. */
function visits(question: Question): Sql {
  const { project, period, shape } = question
  return sql`
  SELECT
    ${keyed(shape.visit?.(period))} AS key, sum(sign) AS visits,
    sumIf(sign, pageviews = 1 AND events = 0) AS bounces,
    sum(sign * (toUnixTimestamp64Milli(end_at) - toUnixTimestamp64Milli(start_at))) AS duration
  FROM sessions WHERE ${and([
    sql`project_id = ${string(project)}`,
    sql`start_at >= ${time(period.start)}`,
    sql`start_at < ${time(period.end)}`,
    sql`pageviews > 0`,
    shape.isVisit,
  ])} ${grouped(question)}`
}

/** Whether events and sessions both have a part in it. */
const hasVisits = ({ shape }: Question): boolean =>
  shape.event === undefined || shape.visit !== undefined

const METRICS = sql`
  toInt64(users) AS metric_users, toInt64(pageviews) AS metric_pageviews, toInt64(others) AS metric_events,
  if(visits > 0, intDivOrZero(20000 * bounces + visits, 2 * visits) / 100, NULL) AS metric_bounce_rate,
  if(visits > 0, intDivOrZero(duration + 5 * visits, 10 * visits) / 100, NULL) AS metric_visit_duration`
const NO_VISITS = sql`0 AS visits, 0 AS bounces, 0 AS duration`

const alone = (question: Question, ofEvents: Sql): Statement =>
  answer(question, sql`SELECT *, ${NO_VISITS} FROM (${ofEvents})`)

function joined(question: Question, ofEvents: Sql): Statement {
  const ofVisits = sql`(${visits(question)}) AS of_visits`
  const join =
    question.shape.event === undefined
      ? sql`CROSS JOIN ${ofVisits}`
      : sql`LEFT JOIN ${ofVisits} USING (key)`
  return answer(question, sql`SELECT * FROM (${ofEvents}) AS of_events ${join}`)
}

function united(question: Question, ofEvents: Sql): Statement {
  return answer(
    question,
    sql`
SELECT
  key, sum(parts.users) AS users, sum(parts.pageviews) AS pageviews, sum(parts.others) AS others,
  sum(parts.visits) AS visits, sum(parts.bounces) AS bounces, sum(parts.duration) AS duration
FROM (
  SELECT *, ${NO_VISITS} FROM (${ofEvents})
  UNION ALL
  SELECT key, 0 AS users, 0 AS pageviews, 0 AS others, visits, bounces, duration FROM (${visits(question)})
) AS parts
GROUP BY key HAVING users > 0`,
  )
}

function answer(question: Question, groups: Sql): Statement {
  return statement(sql`SELECT key, ${METRICS} FROM (${groups}) ${order(question)} LIMIT 100`)
}

function order({ shape, period }: Question): Sql {
  if (shape.isSeries !== true) return sql`ORDER BY metric_users DESC, key`
  return sql`ORDER BY key WITH FILL FROM ${day(period.start)} TO ${day(period.end)} STEP ${period.step}`
}

const day = (bound: Date): Sql => sql`toDate(${time(bound)})`
