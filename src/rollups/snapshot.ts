/**
 * Keeps the facts of a month as they are at a moment, and records how they change from then on: loads go on while the
 * rollups of the month are computed.
 */
import type { Connection } from '../clickhouse/connection.js'
import { createLike } from '../clickhouse/replicas/create-like.js'
import { identifier, sql, statement, strings, uint32, uint64, type Sql } from '../clickhouse/sql.js'
import { LIVE, type Facts, type ShadowTables } from '../model/rollup-table-sets.js'
import { limitBlocks } from './backfill.js'
import { isOfMonth, type Month } from './months.js'

/** The names of the views that record the changes, without the prefix of the shadow tables. */
export const CHANGE_VIEWS = ['feed_new_events', 'feed_new_sessions'] as const

const nameChangeViews = ({ prefix }: ShadowTables): readonly [events: Sql, sessions: Sql] => [
  identifier(prefix + CHANGE_VIEWS[0]),
  identifier(prefix + CHANGE_VIEWS[1]),
]

/**
 * Copies the facts of a month as hard links, which takes a moment and no room, and starts to record their changes. The
 * caller holds the loader lease, and has finished interrupted work.
 */
export async function takeSnapshot(
  holder: Connection,
  shadow: ShadowTables,
  month: Month,
  projectId: string | undefined,
): Promise<void> {
  const { snapshot, changes } = shadow
  const [eventsView, sessionsView] = nameChangeViews(shadow)
  await createLike(holder, snapshot.events, sql`events`)
  await createLike(holder, snapshot.sessions, LIVE.sessions)
  const steps = [
    sql`CREATE TABLE ${changes.events} ${RECORD_ENGINE} AS ${selectChanges(LIVE.eventChanges)} WHERE false`,
    sql`CREATE TABLE ${changes.sessions} ${RECORD_ENGINE} AS ${selectChanges(LIVE.sessions)} WHERE false`,
    sql`CREATE MATERIALIZED VIEW ${eventsView} TO ${changes.events} AS
${selectChanges(LIVE.eventChanges)} WHERE ${isOfMonth(sql`timestamp`, month, projectId)}`,
    sql`CREATE MATERIALIZED VIEW ${sessionsView} TO ${changes.sessions} AS
${selectChanges(LIVE.sessions)} WHERE ${isOfMonth(sql`start_at`, month, projectId)}`,
    sql`ALTER TABLE ${snapshot.events} ATTACH PARTITION ${uint32(month)} FROM events`,
    sql`ALTER TABLE ${snapshot.sessions} ATTACH PARTITION ${uint32(month)} FROM ${LIVE.sessions}`,
  ]
  for (const step of steps) await holder.execute(statement(step))
}

/** Inserts have the tokens of the loads, so one that is repeated is recorded once; the tokens are recorded, too. */
const selectChanges = (source: Sql): Sql =>
  sql`SELECT *, getSetting('insert_deduplication_token') AS token FROM ${source}`

/** The number of the load in a token. */
const LOAD = sql`toUInt64OrZero(extract(token, '^load-([0-9]+)-'))`

/**
 * Parts are never merged, so a part that was added to the shadow tables is known by its name. Both limits are needed:
 * while other tables are merged, ClickHouse takes one between them.
 */
const RECORD_ENGINE = sql`
ENGINE = MergeTree ORDER BY tuple()
SETTINGS non_replicated_deduplication_window = 10000,
  max_bytes_to_merge_at_min_space_in_pool = 1, max_bytes_to_merge_at_max_space_in_pool = 1,
  parts_to_delay_insert = 100000, parts_to_throw_insert = 100000`

/** Ends the recording. The caller holds the loader lease. */
export async function stopRecording(holder: Connection, shadow: ShadowTables): Promise<void> {
  for (const view of nameChangeViews(shadow)) {
    await holder.execute(statement(sql`DROP TABLE ${view} SYNC`))
  }
}

/** Changes may be large events of an import, and cannot be tried again in smaller blocks: some may be added already. */
const CHANGE_BLOCKS = limitBlocks({ rows: 4_096, threads: 1 })

/** The names of the parts of the recorded changes that were added to the shadow tables. */
type AddedParts = Readonly<Record<keyof Facts, Set<string>>>

/** Adds the recorded changes to the shadow tables, except those that were added before. Returns the number of rows. */
export async function addChanges(
  writer: Connection,
  { changes, ...shadow }: ShadowTables,
  added: AddedParts,
): Promise<number> {
  let total = 0
  for (const [kind, target] of [
    ['events', shadow.eventChanges],
    ['sessions', shadow.sessions],
  ] as const) {
    const source = changes[kind]
    const { rows: parts } = await writer.query<{ name: string; rows: number }>(
      statement(
        sql`
          SELECT _part AS name, count() AS rows
          FROM ${source}
          WHERE NOT has(${strings([...added[kind]])}, _part)
          GROUP BY name`,
      ),
    )
    if (parts.length === 0) continue
    const names = parts.map(({ name }) => name)
    await writer.execute(
      statement(
        sql`INSERT INTO ${target} SELECT * EXCEPT token FROM ${source} WHERE _part IN ${strings(names)}`,
      ),
      CHANGE_BLOCKS,
    )
    for (const { name, rows } of parts) {
      added[kind].add(name)
      total += rows
    }
  }
  return total
}

/** What a snapshot needs to be known for later: how the store was when it was taken. */
export interface StoreState {
  /** How far deletions are, as a text that changes with each step of any. They are not recorded. */
  readonly deletions: string
  /** The number of the last load. It was complete. */
  readonly lastLoad: number
}

/** Reads the state. The caller holds the loader lease, and has finished interrupted work. */
export async function readState(holder: Connection): Promise<StoreState> {
  const { rows } = await holder.query<StoreState>(
    statement(sql`
SELECT
  hex(sipHash128(
    (SELECT (count(), groupBitXor(sipHash64(removal, step))) FROM removals),
    (SELECT (count(), groupBitXor(sipHash64(expiration, step))) FROM expirations))) AS deletions,
  greatest((SELECT max(load) FROM loads), (SELECT max(load) FROM inbox_cursor)) AS lastLoad`),
  )
  const [state] = rows
  if (state === undefined) throw new TypeError('the state of a store is one row')
  return state
}

/**
 * Returns whether the snapshot and the changes do not add up to the facts: something was deleted, or a loader that was
 * suspended has repeated an insert of a load that is in the snapshot.
 *
 * @param state of the store when the snapshot was taken
 */
export async function isOutdated(
  holder: Connection,
  { changes }: ShadowTables,
  state: StoreState,
): Promise<boolean> {
  if ((await readState(holder)).deletions !== state.deletions) return true
  const { rows } = await holder.query<{ repeated: number }>(
    statement(sql`
SELECT countIf(${LOAD} <= ${uint64(state.lastLoad)}) AS repeated
FROM (SELECT token FROM ${changes.events} UNION ALL SELECT token FROM ${changes.sessions})`),
  )
  return rows[0]?.repeated !== 0
}
