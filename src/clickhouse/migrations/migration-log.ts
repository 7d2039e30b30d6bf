/** The table `migrations`, which records the migrations that were applied to a database. */
import type { Connection } from '../connection.js'
import { replicateTable } from '../replicas/engines.js'
import { FIRST_NUMBER, MigrationError, type Migration } from './migration-files.js'
import { sql, statement, string, uint32 } from '../sql.js'

interface Applied {
  readonly number: number
  readonly name: string
  readonly checksum: string
}

/** The last migration of version 0.1.0. The first file of this build replaces it and those before, under the same number. */
const LAST_OF_FLOOR: Omit<Applied, 'number'> = {
  name: '0032_cutoffs.sql',
  checksum: '0d9438ee256787691eff1f7858eb225917be9f5c81236cffdc4c1025e5b4eaea',
}

/** Creates the table if it is missing. */
export async function createMigrationLog(connection: Connection): Promise<void> {
  const { query, query_params } = statement(sql`
      CREATE TABLE IF NOT EXISTS migrations
      (
        number     UInt32,
        name       String,
        checksum   String,
        applied_at DateTime64(3, 'UTC') DEFAULT now64(3)
      )
      ENGINE = MergeTree
      ORDER BY number`)
  await connection.execute({ query: replicateTable(query, connection.replica), query_params })
}

/**
 * Returns the migrations that are not applied yet, in order. A database of version 0.1.0 has the first one.
 *
 * @throws MigrationError when the database is older than 0.1.0, or when an applied migration is missing or has changed since:
 *   the state of the tables is then unknown
 */
export async function findPendingMigrations(
  connection: Connection,
  migrations: readonly Migration[],
): Promise<readonly Migration[]> {
  const { rows } = await connection.query<Applied>(
    statement(sql`SELECT number, name, checksum FROM migrations ORDER BY number`),
  )
  const last = rows.at(-1)
  if (last !== undefined && last.number < FIRST_NUMBER) {
    throw new MigrationError(
      last.name,
      'it is the last one of this database, which is older than version 0.1.0: start 0.1.0 on it first, then this version',
    )
  }
  for (const applied of rows.filter(({ number }) => number >= FIRST_NUMBER)) {
    const { name, checksum } = applied
    if (name === LAST_OF_FLOOR.name && checksum === LAST_OF_FLOOR.checksum) continue
    const file = migrations.find(({ number }) => number === applied.number)
    if (file?.name !== name) {
      throw new MigrationError(
        name,
        'it was applied to this database but is missing here; this version may be older than the database',
      )
    }
    if (file.checksum !== checksum) {
      throw new MigrationError(name, 'it has changed since it was applied to this database')
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
