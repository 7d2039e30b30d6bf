/** Restores a backup into an empty database. A marker in the database shows that a restore has not ended. */
import { UserError } from '../../lib/errors.js'
import { connect, type Connection } from '../connection.js'
import type { Endpoint } from '../endpoint.js'
import { isClickHouseError } from '../errors.js'
import { databaseName, sql, statement, string, type Sql } from '../sql.js'
import { describeFailure } from './back-up.js'

const MARKER = 'restore_unfinished'

/**
 * Restores all tables of a backup, then calls `finish` with the admin's connection. Until `finish` has ended, no process
 * opens the database.
 *
 * The database has the name that it had when it was backed up: ClickHouse rewrites the views for another name, wrongly.
 *
 * @throws UserError when the database has tables, or ClickHouse cannot read the backup
 */
export async function restoreBackup(
  endpoint: Endpoint,
  place: Sql,
  finish: (admin: Connection) => Promise<void>,
): Promise<void> {
  const admin = connect(endpoint, 'admin')
  try {
    const tables = await listTables(admin)
    if (tables.some((table) => table !== MARKER)) throw createNotEmptyError(tables.includes(MARKER))
    await admin.execute(
      statement(sql`CREATE TABLE IF NOT EXISTS restore_unfinished (row UInt8) ENGINE = Null`),
    )
    await admin
      .query(
        statement(sql`
RESTORE DATABASE ${databaseName(endpoint.database)} FROM ${place}
SETTINGS allow_different_database_def = 1`),
      )
      .catch(async (error: unknown) => {
        const isUntouched = (await listTables(admin)).every((table) => table === MARKER)
        if (isUntouched) await admin.execute(statement(sql`DROP TABLE restore_unfinished`))
        throw describeFailure(error, 'cannot restore the backup')
      })
    await finish(admin)
    await admin.execute(statement(sql`DROP TABLE restore_unfinished`))
  } finally {
    await admin.close()
  }
}

/** @throws UserError while a restore of the database is unfinished */
export async function requireRestored(reader: Connection): Promise<void> {
  if (await isRestoreUnfinished(reader)) throw createNotEmptyError(true)
}

/** Returns whether a restore of the database has not ended. */
export async function isRestoreUnfinished(reader: Connection): Promise<boolean> {
  const query = statement(
    sql`SELECT 1 FROM system.tables WHERE database = currentDatabase() AND name = ${string(MARKER)}`,
  )
  const { rows } = await reader.query(query).catch((error: unknown) => {
    // A new server has no database yet.
    if (isClickHouseError(error, 'UNKNOWN_DATABASE')) return { rows: [] }
    throw error
  })
  return rows.length > 0
}

const createNotEmptyError = (isUnfinished: boolean): UserError =>
  new UserError(
    isUnfinished
      ? 'a restore of this database did not end: drop the database (or remove DATA_DIR/clickhouse), then restore again'
      : 'the database is not empty: restore into a new one, or into a new DATA_DIR',
  )

async function listTables(admin: Connection): Promise<readonly string[]> {
  const { rows } = await admin.query<{ name: string }>(
    statement(sql`SELECT name FROM system.tables WHERE database = currentDatabase()`),
  )
  return rows.map(({ name }) => name)
}
