/** Brings a database up to date: applies the pending migrations, each once and in order. */
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
 * Creates the database if it is missing, and applies the pending migrations. When several processes call this at
 * once, one applies them and the others wait. The next call tries a failed migration again.
 *
 * @returns the names of the files applied by this call
 * @throws MigrationError when a file is missing, changed or wrongly numbered, or a statement fails; LeaseTimeoutError
 *   when another process migrates for longer than a minute
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

/** Creates the database if it is missing. A connection needs a database that exists, so `system` serves for that. */
async function ensureDatabase(endpoint: Endpoint): Promise<void> {
  const connection = connect(endpoint, 'admin')
  const systemConnection = connect({ ...endpoint, database: 'system' }, 'admin')
  try {
    await connection.query(statement(sql`SELECT 1`))
  } catch (error) {
    if (!isClickHouseError(error, 'UNKNOWN_DATABASE')) throw error
    const database = identifier(endpoint.database)
    await systemConnection.execute(statement(sql`CREATE DATABASE IF NOT EXISTS ${database}`))
  } finally {
    await Promise.all([connection.close(), systemConnection.close()])
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
  // If this process was suspended, another one may have taken over and applied this migration.
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
