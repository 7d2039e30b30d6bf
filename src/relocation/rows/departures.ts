/** The users who leave a shard when their project is widened: who they are, and their rows there once they have left. */
import type { Connection } from '../../clickhouse/connection.js'
import { sql, statement, string, uint32, type Sql } from '../../clickhouse/sql.js'
import { isClickHouseError } from '../../clickhouse/errors.js'
import { INLINED } from '../../clickhouse/temporary-tables.js'
import { writeHasOwnId, writeIndexOf } from '../../cluster/choose-shard.js'
import { deleteRows } from '../../deletion/delete-rows.js'
import { MOVED_TABLES, nameTable } from './moved-tables.js'

/** Where users are among the `width` shards of their project. */
export interface Position {
  readonly index: number
  readonly width: number
}

/** Users who were derived from an address stay: their events cannot be told by sender any more. */
const HAS_OWN_ID = writeHasOwnId(sql`user_id`)

/** The position of a user who has an id, which decides where their events go. */
const findIndex = (width: number): Sql => writeIndexOf(sql`user_id`, uint32(width))

/** Selects the numbers of the users who leave a shard for the one at a position. */
export const selectLeavers = (projectId: string, { index, width }: Position): Sql =>
  sql`
    SELECT user
    FROM users
    WHERE project_id = ${string(projectId)} AND ${HAS_OWN_ID} AND ${findIndex(width)} = ${uint32(index)}`

/** Records the users who leave the shard at a position: queries leave them out once the project is switched. May be repeated. */
export async function recordDepartures(
  writer: Connection,
  projectId: string,
  { index, width }: Position,
): Promise<void> {
  await forgetDepartures(writer, projectId)
  await writer.execute(
    statement(sql`
INSERT INTO departures (project_id, users)
SELECT ${string(projectId)}, groupBitmapState(user) FROM users
WHERE project_id = ${string(projectId)} AND ${HAS_OWN_ID} AND ${findIndex(width)} != ${uint32(index)}`),
    { insert_deduplicate: 0 },
  )
}

/** Forgets who left, once none of their rows is left or nobody leaves. */
export const forgetDepartures = (writer: Connection, projectId: string): Promise<void> =>
  writer.execute(statement(sql`DELETE FROM departures WHERE project_id = ${string(projectId)}`))

/** Deletes the rows of the users who have left. The rollups still count them. The caller holds the loader lease. */
export async function deleteDeparted(writer: Connection, projectId: string): Promise<void> {
  // The text of a mutation has to stay true, so it has the users themselves.
  const departed = sql`(SELECT hex(groupBitmapMergeState(users)) FROM departures WHERE project_id = ${string(projectId)})`
  const isOwn = sql`project_id = ${string(projectId)} AND bitmapContains(CAST(unhex(${departed}), 'AggregateFunction(groupBitmap, UInt32)'), user)`
  for (const moved of MOVED_TABLES.filter(({ share }) => share === 'users')) {
    const table = nameTable(moved)
    if (moved.partition === undefined) {
      await writer.execute(statement(sql`DELETE FROM ${table} WHERE ${isOwn}`), INLINED)
    } else {
      await deleteRows(writer, table, moved.partition, isOwn, INLINED)
    }
  }
}

/** Whether an account for queries has the right to leave users out. */
export async function canReadDepartures(reader: Connection): Promise<boolean> {
  try {
    await reader.query(statement(sql`SELECT count() FROM departures WHERE project_id = ''`))
    return true
  } catch (error) {
    if (isClickHouseError(error, 'ACCESS_DENIED')) return false
    throw error
  }
}
