/** Reports which migrations of this build a database lacks. Writes nothing. */
import type { Connection } from '../connection.js'
import { isClickHouseError } from '../errors.js'
import { PACKAGE_MIGRATIONS, readMigrations } from './migration-files.js'
import { findPendingMigrations } from './migration-log.js'

export interface MigrationStatus {
  /** False for a database that does not exist or to which no migration was applied. */
  readonly isSetUp: boolean
  /** The files that still have to be applied, in order. */
  readonly missing: readonly string[]
}

/**
 * Compares the log of applied migrations with the files of this build.
 *
 * @throws MigrationError when a migration was applied that this build lacks, or that differs here
 */
export async function readMigrationStatus(connection: Connection): Promise<MigrationStatus> {
  const migrations = await readMigrations(PACKAGE_MIGRATIONS)
  try {
    const pending = await findPendingMigrations(connection, migrations)
    return {
      isSetUp: pending.length < migrations.length,
      missing: pending.map(({ name }) => name),
    }
  } catch (error) {
    const isAbsent = ['UNKNOWN_DATABASE', 'UNKNOWN_TABLE'].some((type) =>
      isClickHouseError(error, type),
    )
    if (!isAbsent) throw error
    return { isSetUp: false, missing: migrations.map(({ name }) => name) }
  }
}
