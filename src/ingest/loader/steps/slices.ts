/**
 * Publishes a load in slices. An insert is one block, and the views behind it multiply its rows, so the memory that it takes
 * is limited by its size.
 */
import type { Connection } from '../../../clickhouse/connection.js'
import { join, sql, statement, uint64, type Sql } from '../../../clickhouse/sql.js'
import { COUNTED_COLUMNS } from '../../../model/fact-columns.js'
import { ONE_BLOCK } from '../../inbox/one-block.js'
import type { LoadTables } from './shared/load-tables.js'
import { buildInserts } from './publish.js'

/** An insert of a load, or one slice of it. */
export interface LoadInsert {
  readonly name: string
  /** Whether queries read what it writes. */
  readonly isRead: boolean
  /** Identifies it within the load. */
  readonly token: string
  readonly insert: Sql
}

/** Chooses the rows of one slice by a hash of `key`: the same rows whenever it is asked. */
type PickRows = (table: Sql, key: Sql) => Sql

/** The inserts that are sliced: each with the tables whose rows it inserts. */
const SLICED: Readonly<Record<string, (tables: LoadTables, pick: PickRows) => LoadTables>> = {
  events: sliceEvents,
  event_changes: sliceEvents,
  sessions: (tables, pick) => ({
    ...tables,
    sessions: pick(tables.sessions, sql`session`),
    previousStates: pick(tables.previousStates, sql`session`),
  }),
}

function sliceEvents(tables: LoadTables, pick: PickRows): LoadTables {
  return {
    ...tables,
    rows: pick(tables.rows, sql`seq`),
    movedEvents: pick(tables.movedEvents, sql`(past_session, timestamp, name, path)`),
  }
}

/**
 * Builds the inserts of a load, in order.
 *
 * @param load its number
 * @param slices in how many slices the large ones are inserted. Another version may have begun to publish
 *   the load, so tokens stay as they are.
 */
export function sliceInserts(
  tables: LoadTables,
  load: number,
  slices: number,
): readonly LoadInsert[] {
  return Object.entries(buildInserts(tables, load)).flatMap(([name, insert]) => {
    const isRead = name in SLICED
    const slice = slices === 1 ? undefined : SLICED[name]
    if (slice === undefined) return [{ name, isRead, token: name, insert }]
    return Array.from({ length: slices }, (_, i) => {
      const pick: PickRows = (table, key) =>
        sql`(SELECT * FROM ${table} WHERE cityHash64(${key}) % ${uint64(slices)} = ${uint64(i)})`
      return {
        name,
        isRead,
        token: `${name}-${i + 1}`,
        insert: buildInserts(slice(tables, pick), load)[name] ?? insert,
      }
    })
  })
}

/** Views whose groups take more bytes than this put them on disk. Loads that are cut into slices stay below it. */
const MAX_GROUPING_MEMORY = '200000000'

/**
 * Runs an insert that ClickHouse stores once even if it is sent several times: it recognises the block by its token. The
 * materialized views deduplicate on their own, because a crash may come between the table and its views.
 */
export const insertOnce = (writer: Connection, insert: Sql, token: string): Promise<void> =>
  writer.execute(statement(insert), {
    ...ONE_BLOCK,
    insert_deduplication_token: token,
    deduplicate_blocks_in_dependent_materialized_views: 1,
    max_bytes_before_external_group_by: MAX_GROUPING_MEMORY,
  })

/** The memory that one slice may take, in bytes, as far as it can be estimated. */
const MAX_SLICE_MEMORY = sql`300000000`

/** Each group of a rollup takes about 1,500 bytes, because all views behind an insert hold a state of it at once. */
const GROUP_MEMORY = sql`1500`

/** The texts of events are copied by each of the views. */
const TEXT_COPIES = sql`8`

/** Estimates the memory that the views need for the events of a table: for the groups of pages, names and properties. */
const estimateEvents = (table: Sql): Sql => sql`(
  SELECT
    ${GROUP_MEMORY} * (
      uniqCombined(cityHash64(day, path)) + uniqCombined(cityHash64(day, origin)) + uniqCombined(cityHash64(day, name))
      + uniqCombinedArray(arrayMap((property, value) -> cityHash64(day, property, value), mapKeys(properties), mapValues(properties))))
    + ${TEXT_COPIES} * sum(length(path) + length(origin) + arraySum(value -> length(value), mapValues(properties)))
  FROM (SELECT *, cityHash64(project_id, toDate(timestamp)) AS day FROM ${table})
)`

const SESSION_GROUPS = [...COUNTED_COLUMNS, sql`entry_path`, sql`entry_origin`]

/** Estimates the memory that the views need for the states of sessions in a table. */
const estimateSessions = (table: Sql): Sql => sql`(
  SELECT ${GROUP_MEMORY} * (${join(
    SESSION_GROUPS.map((column) => sql`uniqCombined(project_id, toDate(start_at), ${column})`),
    sql` + `,
  )})
  FROM ${table}
)`

/** Builds the number of slices in which a staged load is to be published. */
export const estimateSlices = (tables: LoadTables): Sql => sql`
toUInt32(greatest(1, ceil((
  ${estimateEvents(tables.rows)} + 2 * ${estimateEvents(tables.movedEvents)}
  + ${estimateSessions(tables.sessions)} + ${estimateSessions(tables.previousStates)}
) / ${MAX_SLICE_MEMORY})))`
