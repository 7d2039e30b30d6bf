/** Brings a database up to date: applies the migrations that it has not had, once and in order. */
import { connect, type Connection } from '../connection.js'
import type { Endpoint } from '../endpoint.js'
import { isClickHouseError } from '../errors.js'
import { withLease, type Lease } from '../lease/lease.js'
import {
  MigrationError,
  PACKAGE_MIGRATIONS,
  readMigrations,
  type Migration,
} from './migration-files.js'
import { createMigrationLog, findPendingMigrations, recordMigration } from './migration-log.js'
import { identifier, sql, statement } from '../sql.js'

export { MigrationError } from './migration-files.js'

export interface MigrateOptions {
  /** The folder of the migrations; that of the package by default. */
  readonly folder?: string
}

/**
 * Creates the database where it is missing, and applies the migrations that it has not had. When several
 * processes call this at once, one applies them and the others wait. A call tries a failed migration again.
 *
 * @returns the names of the files applied by this call
 * @throws MigrationError when a file is missing, changed, wrongly numbered or fails
 */
export async function migrate(
  endpoint: Endpoint,
  { folder = PACKAGE_MIGRATIONS }: MigrateOptions = {},
): Promise<readonly string[]> {
  const migrations = await readMigrations(folder)
  await ensureDatabase(endpoint)
  const admin = connect(endpoint, 'admin')
  try {
    await createMigrationLog(admin)
    const pending = await findPendingMigrations(admin, migrations)
    if (pending.length === 0) return []
    return await withLease(admin, 'migrations', (lease) => applyPending(admin, migrations, lease))
  } finally {
    await admin.close()
  }
}

/** A connection names its database, so a missing one is created over a connection to the database `system`. */
async function ensureDatabase(endpoint: Endpoint): Promise<void> {
  const inside = connect(endpoint, 'admin')
  const outside = connect({ ...endpoint, database: 'system' }, 'admin')
  try {
    await inside.query(statement(sql`SELECT 1`))
  } catch (error) {
    if (!isClickHouseError(error, 'UNKNOWN_DATABASE')) throw error
    const database = identifier(endpoint.database)
    await outside.execute(statement(sql`CREATE DATABASE IF NOT EXISTS ${database}`))
  } finally {
    await Promise.all([inside.close(), outside.close()])
  }
}

async function applyPending(
  admin: Connection,
  migrations: readonly Migration[],
  lease: Lease,
): Promise<readonly string[]> {
  const pending = await findPendingMigrations(admin, migrations)
  for (const migration of pending) await apply(admin, migration, lease)
  return pending.map(({ name }) => name)
}

async function apply(admin: Connection, migration: Migration, lease: Lease): Promise<void> {
  // While this process slept, another one may have taken over and applied this migration.
  await lease.assertHeld()
  for (const [i, query] of migration.statements.entries()) {
    lease.signal.throwIfAborted()
    try {
      await admin.execute({ query, query_params: {} })
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new MigrationError(migration.name, `statement ${i + 1} failed: ${reason}`, { cause })
    }
  }
  await recordMigration(admin, migration)
}
