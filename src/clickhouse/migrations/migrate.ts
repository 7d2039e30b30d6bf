/** Brings a database up to date: applies the pending migrations, each once and in order. */
import { MINUTE_MS } from '../../lib/time.js'
import { connect, type Connection } from '../connection.js'
import { fenceConnection } from '../connection-wrappers.js'
import type { Endpoint } from '../endpoint.js'
import { isClickHouseError } from '../errors.js'
import { withLease, type Lease } from '../lease/lease.js'
import { createKeeperRows } from '../lease/keeper-rows.js'
import {
  MigrationError,
  PACKAGE_MIGRATIONS,
  readMigrations,
  type Migration,
} from './migration-files.js'
import { ensureDatabase } from '../ensure-database.js'
import { createMigrationLog, findPendingMigrations, recordMigration } from './migration-log.js'
import { MIGRATING, recordTables } from '../replicas/choice.js'
import { replicateTable } from '../replicas/engines.js'

export { MigrationError } from './migration-files.js'

interface MigrateOptions {
  /** The folder of the migrations; that of the package by default. */
  readonly folder?: string
  /** When it is aborted, no further statement is sent and the running one is cancelled. */
  readonly stop?: AbortSignal
}

/**
 * Creates the database if it is missing, and applies the pending migrations. When several processes call this at
 * once, one applies them and the others wait. The next call tries a failed migration again.
 *
 * @returns the names of the files applied by this call
 * @throws MigrationError when the database is older than version 0.1.0, a file is missing, changed or wrongly numbered, or a
 *   statement fails; LeaseTimeoutError when another process migrates for longer than a minute
 */
export async function migrate(
  endpoint: Endpoint,
  { folder = PACKAGE_MIGRATIONS, stop }: MigrateOptions = {},
): Promise<readonly string[]> {
  const migrations = await readMigrations(folder)
  await ensureDatabase(endpoint)
  const connection = connect(endpoint, 'admin')
  const admin = stop === undefined ? connection : fenceConnection(connection, stop)
  try {
    if (admin.replica !== undefined) await createKeeperRows(admin, admin.replica)
    const pending = await findPending(admin, migrations)
    if (pending.length === 0) return []
    // A standby may take over only once it has what the migrations are about to create.
    if (admin.replica !== undefined) await recordTables(admin, MIGRATING)
    return await withLease(admin, 'migrations', (lease) =>
      // On a database in use, a loader may be at work: it must not write into a table while it changes. A standby is not made like
      // a replica that changes.
      pending.length === migrations.length && admin.replica === undefined
        ? applyPending(admin, migrations, [lease])
        : withLease(
            admin,
            'loader',
            (loaderLease) => applyPending(admin, migrations, [lease, loaderLease]),
            { waitMs: LOADER_TIMEOUT_MS },
          ),
    )
  } finally {
    await admin.close()
  }
}

/** Needs no right to create tables for a database that is up to date. */
async function findPending(
  admin: Connection,
  migrations: readonly Migration[],
): Promise<readonly Migration[]> {
  try {
    return await findPendingMigrations(admin, migrations)
  } catch (error) {
    if (!isClickHouseError(error, 'UNKNOWN_TABLE')) throw error
    await createMigrationLog(admin)
    return findPendingMigrations(admin, migrations)
  }
}

/** The longest wait for the loader lease: a loader may be in the middle of a large load. */
const LOADER_TIMEOUT_MS = 10 * MINUTE_MS

async function applyPending(
  admin: Connection,
  migrations: readonly Migration[],
  leases: readonly Lease[],
): Promise<readonly string[]> {
  const pending = await findPendingMigrations(admin, migrations)
  for (const migration of pending) await apply(admin, migration, leases)
  return pending.map(({ name }) => name)
}

async function apply(
  admin: Connection,
  migration: Migration,
  leases: readonly Lease[],
): Promise<void> {
  for (const [i, query] of migration.statements.entries()) {
    // If this process was suspended, another one may have taken over and applied this migration.
    for (const lease of leases) await lease.assertHeld()
    try {
      await admin.execute({ query: replicateTable(query, admin.replica), query_params: {} })
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new MigrationError(migration.name, `statement ${i + 1} failed: ${reason}`, { cause })
    }
  }
  await recordMigration(admin, migration)
}
