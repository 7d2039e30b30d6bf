/** Reads what the loads of a project stored, and checks that it is consistent. */
import { expect } from '@jest/globals'
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { identifier, join, sql, statement, string, type Sql } from '../../../src/clickhouse/sql.js'
import type { Store } from '../../../src/clickhouse/store.js'
import { SESSION_ATTRIBUTES } from '../../../src/model/event-fields.js'

type Row = Readonly<Record<string, unknown>>

/** One session, without the numbers that the loader assigned. */
export interface Fact extends Row {
  readonly user_id: string
  readonly start_at: string
  /** Its events in order of time, each with its attributes. */
  readonly items: readonly Row[]
}

export async function select<T = Row>(store: Store, query: Sql): Promise<readonly T[]> {
  return (await store.writer.query<T>(statement(query))).rows
}

const STATE = sql`
  session, user, start_at, end_at, pageviews, events, pageleaves,
  if(pageviews = 0, '', entry_origin) AS entry_origin, if(pageviews = 0, '', entry_path) AS entry_path, exit_path, exit_at, `
const ATTRIBUTES = SESSION_ATTRIBUTES.map(({ column }) => column).reduce(
  (list, column) => sql`${list}, ${column}`,
)

/** Numbers of sessions may be too high for those of JavaScript. */
const asText = (sessions: Sql): Sql =>
  sql`SELECT * REPLACE (toString(session) AS session) FROM (${sessions}) ORDER BY session`

/** The sessions of the table `sessions`: the states whose signs do not cancel out. */
const selectStoredSessions = (projectId: string): Sql =>
  asText(sql`
SELECT ${STATE} session_id, [(${ATTRIBUTES})] AS attributes, sum(sign) AS states
FROM sessions WHERE project_id = ${string(projectId)}
GROUP BY ALL HAVING states != 0`)

/** The sessions, computed from `events`; a session has one value of each attribute. */
const selectSessionsFromEvents = (projectId: string): Sql =>
  asText(sql`
SELECT
  session, user, min(timestamp) AS start_at, max(timestamp) AS end_at,
  countIf(name = 'pageview') AS pageviews, countIf(name != 'pageview') AS events, countIf(name = 'pageleave') AS pageleaves,
  maxIf((timestamp, path), name = 'pageview') AS last, last.2 AS exit_path,
  greatest(if(pageviews > 0, last.1, end_at), toDateTime64('1970-01-01 00:00:00.001', 3, 'UTC')) AS exit_at,
  arrayDistinct(groupArrayIf((origin, path), name = 'pageview' AND timestamp = first)) AS entries,
  groupUniqArray((${ATTRIBUTES})) AS attributes
FROM (
  SELECT *, minIf(timestamp, name = 'pageview') OVER (PARTITION BY session) AS first
  FROM events WHERE project_id = ${string(projectId)}
)
GROUP BY session, user`)

/** Consecutive events of a user that are wrongly in one session, or wrongly in two. */
const selectMisplacedEvents = (projectId: string): Sql => sql`
SELECT user, timestamp, gap, is_same
FROM (
  SELECT
    user, timestamp, session_id,
    session = any(session) OVER before AS is_same,
    timestamp - any(timestamp) OVER before AS gap,
    row_number() OVER (PARTITION BY user, session_id ORDER BY timestamp, session) AS place
  FROM events
  INNER JOIN (SELECT DISTINCT session, session_id FROM sessions WHERE project_id = ${string(projectId)}) AS ids USING (session)
  WHERE project_id = ${string(projectId)}
  WINDOW before AS (PARTITION BY user, session_id ORDER BY timestamp, session ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING)
)
WHERE place > 1 AND is_same != (session_id != '' OR gap <= 1800)`

/** Users with two numbers, numbers that two users share, and numbers in `events` that no user has. */
const selectMisnumberedUsers = (projectId: string): Sql => sql`
WITH known AS (SELECT user_id, user FROM users WHERE project_id = ${string(projectId)})
SELECT toString(user) AS who FROM known GROUP BY user HAVING count() > 1
UNION ALL SELECT user_id FROM known GROUP BY user_id HAVING count() > 1
UNION ALL
SELECT DISTINCT toString(user) FROM events
WHERE project_id = ${string(projectId)} AND user NOT IN (SELECT user FROM known)`

/** Compares with node's deep equality first: jest's is slow on many rows. */
function expectSame(actual: unknown, wanted: unknown): void {
  if (!isDeepStrictEqual(actual, wanted)) expect(actual).toEqual(wanted)
}

/** Checks that every session in `sessions` agrees with its events, and that sessions and users follow the rules. */
export async function expectConsistentFacts(store: Store, projectId: string): Promise<void> {
  const [states, sessions] = await Promise.all([
    select(store, selectStoredSessions(projectId)),
    select<Row & { entries: readonly (readonly [string, string])[] }>(
      store,
      selectSessionsFromEvents(projectId),
    ),
  ])
  const entries = new Map(sessions.map((one) => [one['session'], one.entries]))
  const ids = new Map(states.map((one) => [one['session'], one['session_id']]))
  // If pageviews have the same time, the one that arrived first is the entry, but `events` does not record the arrival.
  const withEntryCheck = ({ entry_origin, entry_path, ...state }: Row): Row => ({
    ...state,
    isEntry:
      state['pageviews'] === 0 ||
      entries.get(state['session'])?.some(([o, p]) => o === entry_origin && p === entry_path),
  })
  expectSame(
    states.map(withEntryCheck),
    sessions.map(({ entries: _, last: _last, ...session }) => ({
      ...session,
      session_id: ids.get(session['session']),
      states: 1,
      isEntry: true,
    })),
  )
  expect(await select(store, selectMisplacedEvents(projectId))).toEqual([])
  expect(await select(store, selectMisnumberedUsers(projectId))).toEqual([])
}

/** Reads all sessions of a project with their events, ordered by user and time. */
export function readFacts(store: Store, projectId: string): Promise<readonly Fact[]> {
  return select<Fact>(
    store,
    sql`
WITH
  who AS (SELECT user, user_id FROM users WHERE project_id = ${string(projectId)}),
  items AS (
    SELECT session, arraySort(groupArray(tuple(
      timestamp, name, anonymous, origin, path, hash, toJSONString(properties), ${ATTRIBUTES}
    ))) AS items
    FROM events WHERE project_id = ${string(projectId)} GROUP BY session
  )
SELECT who.user_id, session_id, start_at, end_at, pageviews, events, entry_origin, entry_path, exit_path, exit_at, ${ATTRIBUTES}, items.items AS items
FROM (SELECT ${STATE} session_id, ${ATTRIBUTES} FROM sessions WHERE project_id = ${string(projectId)} GROUP BY ALL HAVING sum(sign) = 1) AS states
LEFT JOIN who USING (user)
LEFT JOIN items USING (session)
ORDER BY who.user_id, start_at, session_id`,
  )
}

/** Names derived users, whose ids are others in each project, by all that is known of them. */
export function nameDerivedUsers(facts: readonly Fact[]): readonly Fact[] {
  const known = new Map<string, string>()
  // Facts are in order of time for each user.
  for (const { user_id: id, ...fact } of facts) {
    known.set(id, `${known.get(id) ?? ''}${JSON.stringify(fact)}`)
  }
  const nameUser = (id: string): string =>
    id.startsWith('anonymous-')
      ? `derived ${createHash('sha256')
          .update(known.get(id) ?? '')
          .digest('hex')}`
      : id
  const orderOf = (fact: Fact): string =>
    JSON.stringify([fact.user_id, fact.start_at, fact['session_id']])
  return facts
    .map((fact) => ({ ...fact, user_id: nameUser(fact.user_id) }))
    .toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))
}

/** The tables in which loads are staged. */
const STAGED_TABLES = [
  'rows',
  'exclusions',
  'kept',
  'users',
  'items',
  'sessions',
  'past',
  'moved',
].map((name) => `loading_${name}`)

/** Lists the rows of the inbox, and the working tables and rows that finished loads and deletions should have deleted. */
export async function listLeftovers(store: Store): Promise<readonly string[]> {
  const rows = await select<{ what: string }>(
    store,
    sql`
SELECT concat('row ', toString(row), ' of ', batch) AS what FROM inbox WHERE line != ''
UNION ALL
SELECT name FROM system.tables WHERE database = currentDatabase() AND match(name, '^(load|removal|trial)_')
UNION ALL ${join(
      STAGED_TABLES.map(
        (table) =>
          sql`SELECT concat('rows of ', ${string(table)}) FROM ${identifier(table)} LIMIT 1`,
      ),
      sql` UNION ALL `,
    )}`,
  )
  return rows.map(({ what }) => what)
}
