/** Writes the statements of an export. */
import {
  declaredName,
  int64,
  join,
  sql,
  statement,
  uint32,
  type Sql,
  type Statement,
} from '../../clickhouse/sql.js'
import type { EventField } from '../../contract/api.js'
import { selectOrigin } from '../../model/origin.js'
import type { Period } from '../request/period.js'
import type { Query } from '../request/query.js'
import { writeFilter, writeReachingSessions } from '../sql/filter.js'
import { createContext, writeRowsWithin, writeUserIds, type StatementContext } from '../sql/rows.js'
import { toShardContext, writeRowsOfShards, type ShardGroup } from '../sql/shards.js'
import { FIELDS, MOMENT } from './fields.js'

/** What is exported, and how its rows are marked. */
export interface Export {
  /** The events: project, period and predicate. */
  readonly query: Query
  readonly fields: readonly EventField[]
  /** Differs from request to request. */
  readonly nonce: string
  /** The shards that the project lives across; undefined if there is only one. */
  readonly group: ShardGroup | undefined
}

/** No account of the store may return more rows. */
export const MAX_STATEMENT_ROWS = 1_000_000

/** Writes the statement that counts the events of a part of the period in buckets of some milliseconds. */
export function buildCountStatement(asked: Export, period: Period, bucketMs: number): Statement {
  const context = createSliceContext(asked, period)
  const bucket = int64(bucketMs)
  const start = sql`intDiv(toUnixTimestamp64Milli(timestamp), ${bucket}) * ${bucket}`
  const count = (of: StatementContext): Sql =>
    sql`SELECT ${start} AS start, toInt64(count()) AS events FROM ${writeSlice(of)} GROUP BY start`
  const counts =
    asked.group === undefined
      ? sql`(${count(context)}) AS counts`
      : sql`(SELECT start, sum(shards.events) AS events FROM ${writeRowsOfShards(asked.group, count(toShardContext(context, asked.group)))} GROUP BY start) AS counts`
  return statement(
    sql`SELECT start, events, ${selectOrigin(context.project, asked.nonce)} FROM ${counts} ORDER BY start LIMIT ${uint32(MAX_STATEMENT_ROWS)}`,
  )
}

/** Writes the statement that reads the first `limit` events of a part of the period. */
export function buildEventsStatement(asked: Export, period: Period, limit: number): Statement {
  const context = createSliceContext(asked, period)
  const { group, fields } = asked
  const names = fields.map((field) => declaredName<EventField>(field))
  const ordered = sql`ORDER BY ${writeOrder(fields)} LIMIT ${uint32(limit)}`
  const marks = selectOrigin(context.project, asked.nonce)
  if (group === undefined) {
    return statement(
      sql`SELECT ${join([MOMENT, ...names])}, ${marks} FROM (${selectEvents(context, fields)}) AS events ${ordered}`,
    )
  }
  const ofShard = sql`${selectEvents(toShardContext(context, group), fields)} ${ordered}`
  return statement(
    sql`SELECT ${join([MOMENT, ...names])}, ${marks} FROM ${writeRowsOfShards(group, ofShard)} ${ordered}`,
  )
}

/** Filters on sessions look at those that reach into the period of the query: into the slice. */
const createSliceContext = ({ query }: Export, period: Period): StatementContext =>
  createContext({ query: { ...query, period }, readsDays: false })

/** Events of the same moment are ordered by all other fields, so only equal rows can change places. */
const writeOrder = (fields: readonly EventField[]): Sql => {
  const others = fields.filter((field) => field !== 'timestamp' && field !== 'properties')
  const last = fields.filter((field) => field === 'properties')
  return join([MOMENT, ...[...others, ...last].map((field) => FIELDS[field].order)])
}

const writeSlice = (context: StatementContext): Sql =>
  writeRowsWithin(context, 'events', [context.query.period], [writeFilter(context, 'events')])

function selectEvents(context: StatementContext, fields: readonly EventField[]): Sql {
  const slice = writeSlice(context)
  const sources = new Set(fields.map((field) => FIELDS[field].source))
  const values = fields.map(
    (field) => sql`${FIELDS[field].value} AS ${declaredName<EventField>(field)}`,
  )
  const columns = [sql`toUnixTimestamp64Milli(own.timestamp) AS ${MOMENT}`, ...values]
  // The id of a session may be derived from that of its user.
  const withUsers = sources.has('users') || sources.has('sessions')
  const people = withUsers ? joinUsers(context, slice) : sql``
  const visits = sources.has('sessions') ? joinSessions(context, slice) : sql``
  return sql`SELECT ${join(columns)} FROM (SELECT * FROM ${slice}) AS own${people}${visits}`
}

const joinUsers = (context: StatementContext, slice: Sql): Sql =>
  sql` LEFT ANY JOIN (SELECT user, user_id FROM ${writeUserIds(context, sql`user IN (SELECT user FROM ${slice})`)}) AS people ON own.user = people.user`

function joinSessions(context: StatementContext, slice: Sql): Sql {
  const sessions = writeReachingSessions(context, [sql`session IN (SELECT session FROM ${slice})`])
  return sql` LEFT ANY JOIN (SELECT session, session_id AS sent_id, start_at, true AS is_known FROM ${sessions}) AS visits ON own.session = visits.session`
}
