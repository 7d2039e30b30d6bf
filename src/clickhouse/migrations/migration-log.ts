/** The table `migrations`, which records the migrations that were applied to a database. */
import type { Connection } from '../connection.js'
import { MigrationError, type Migration } from './migration-files.js'
import { sql, statement, string, uint32 } from '../sql.js'

interface Applied {
  readonly number: number
  readonly name: string
  readonly checksum: string
}

/** Creates the table if it is missing. */
export async function createMigrationLog(connection: Connection): Promise<void> {
  await connection.execute(
    statement(sql`
      CREATE TABLE IF NOT EXISTS migrations
      (
        number     UInt32,
        name       String,
        checksum   String,
        applied_at DateTime64(3, 'UTC') DEFAULT now64(3)
      )
      ENGINE = MergeTree
      ORDER BY number`),
  )
}

/**
 * Returns the migrations that are not applied yet, in order.
 *
 * @throws MigrationError when an applied migration is missing or has changed since: the state of the tables is
 *   then unknown
 */
export async function findPendingMigrations(
  connection: Connection,
  migrations: readonly Migration[],
): Promise<readonly Migration[]> {
  const { rows } = await connection.query<Applied>(
    statement(sql`SELECT number, name, checksum FROM migrations ORDER BY number`),
  )
  for (const applied of rows) {
    const file = migrations.find(({ number }) => number === applied.number)
    if (file?.name !== applied.name) {
      throw new MigrationError(
        applied.name,
        'it was applied to this database but is missing here; this version may be older than the database',
      )
    }
    if (file.checksum !== applied.checksum) {
      throw new MigrationError(applied.name, 'it has changed since it was applied to this database')
    }
  }
  return migrations.filter(({ number }) => !rows.some((applied) => applied.number === number))
}

/** Records a migration as applied, once all its statements have run. */
export async function recordMigration(
  connection: Connection,
  { number, name, checksum }: Migration,
): Promise<void> {
  await connection.execute(
    statement(sql`
      INSERT INTO migrations (number, name, checksum)
      SELECT ${uint32(number)}, ${string(name)}, ${string(checksum)}`),
  )
}
