/** What `tallyhouse doctor` asks a store: each check reads its facts and judges them. Nothing is written. */
import { listPublicKeys } from '../../auth/public-keys.js'
import { readSigningKeyId } from '../../auth/signing-key.js'
import { isRestoreUnfinished } from '../../clickhouse/backup/restore.js'
import { getSkew, readClocks } from '../../clickhouse/clocks.js'
import { connect, type Connection } from '../../clickhouse/connection.js'
import { buildGrants } from '../../clickhouse/embedded/users.js'
import type { Endpoint } from '../../clickhouse/endpoint.js'
import { findMissingRights } from '../../clickhouse/checks/grants.js'
import { readLeaseStatus, type LeaseStatus } from '../../clickhouse/lease/lease-status.js'
import { MigrationError } from '../../clickhouse/migrations/migrate.js'
import { readMigrationStatus } from '../../clickhouse/migrations/migration-status.js'
import { runServerCheck, SERVER_CHECKS } from '../../clickhouse/checks/server-checks.js'
import { sql, statement, string } from '../../clickhouse/sql.js'
import type { Store } from '../../clickhouse/store.js'
import { listTemporaryTables } from '../../clickhouse/temporary-tables.js'
import type { Config } from '../../config/config.js'
import { DELETION_TABLES } from '../../deletion/deletion-steps.js'
import { TRIAL_TABLES } from '../../ingest/import/dry-run.js'
import { STAGING_TABLES } from '../../ingest/import/formats/columnar/staging.js'
import { findUnfinishedLoads } from '../../ingest/loader/load-log.js'
import { LOAD_TABLES } from '../../ingest/loader/steps/shared/load-tables.js'
import { countWaitingRows } from '../../ingest/loader/stream.js'
import { listMonthsDone, readBuild, readRollupState } from '../../rollups/progress.js'
import { SHADOW_TABLES } from '../../rollups/shadow-tables.js'
import {
  judgeClock,
  judgeDisks,
  judgeMigrations,
  judgePublicKeys,
  judgeRights,
  judgeServer,
  type Disks,
  type Finding,
  type Migrations,
  type PublicKeys,
  type Rights,
} from './judgments.js'
import {
  judgeInbox,
  judgeLease,
  judgeLoads,
  judgeRollups,
  judgeTables,
  type RollupFacts,
  type TableFacts,
} from './work-judgments.js'

/** A store that answers. */
export interface Patient {
  readonly config: Config
  readonly endpoint: Endpoint
  readonly store: Store
  /** The account with all rights, in the database `system`: that of the service may not exist. */
  readonly outside: Connection
  readonly now: () => Date
}

export interface StoreCheck {
  readonly name: string
  readonly examine: (patient: Patient) => Promise<Finding>
}

/** Defines a check, whose facts only the two functions know. */
const define = <Facts>(
  name: string,
  read: (patient: Patient) => Promise<Facts>,
  judge: (facts: Facts) => Finding,
): StoreCheck => ({ name, examine: async (patient) => judge(await read(patient)) })

/** The checks of the server. They need no database. */
export const SERVER: readonly StoreCheck[] = [
  ...SERVER_CHECKS.map((check) =>
    define(check.name, ({ endpoint }) => runServerCheck(check, endpoint), judgeServer),
  ),
  define('rights of the writer', (patient) => readRights(patient, 'writer'), judgeRights),
  define('rights of the reader', (patient) => readRights(patient, 'reader'), judgeRights),
  define('clocks', readSkew, judgeClock),
  define('disk', readDisks, judgeDisks),
]

export const MIGRATIONS = define('migrations', readMigrations, judgeMigrations)

/** The check of the keys, which are at home. It needs its tables. */
export const PUBLIC_KEYS = define('public keys', readPublicKeys, judgePublicKeys)

/** The checks of the database. They need its tables. */
export const DATABASE: readonly StoreCheck[] = [
  define('rollups', readRollups, judgeRollups),
  define('loader', readLoaderLease, judgeLease),
  define(
    'inbox',
    (patient) => Promise.all([countWaitingRows(patient.store.reader), readLoaderLease(patient)]),
    ([waiting, lease]) => judgeInbox(waiting, lease),
  ),
  define(
    'loads',
    (patient) => Promise.all([findUnfinishedLoads(patient.store.writer), readLoaderLease(patient)]),
    ([unfinished, lease]) => judgeLoads(unfinished, lease),
  ),
  define('temporary tables', readTables, judgeTables),
]

/** Whether queries of the store may ask others, which needs further rights. */
const isOneOfMany = ({ cluster, embeddedShards }: Config): boolean =>
  embeddedShards > 1 || (cluster?.shards.length ?? 1) > 1

async function readRights(
  { config, endpoint }: Patient,
  account: 'reader' | 'writer',
): Promise<Rights> {
  const { username } = endpoint.accounts[account]
  // The database of the service may not exist yet.
  const connection = connect({ ...endpoint, database: 'system' }, account)
  try {
    const { rows } = await connection.query<Record<string, string>>(
      statement(sql`SHOW GRANTS FINAL`),
    )
    const granted = rows.flatMap((row) => Object.values(row))
    return {
      username,
      missing: findMissingRights(
        granted,
        buildGrants(endpoint.database, isOneOfMany(config))[account],
      ),
    }
  } finally {
    await connection.close()
  }
}

/** Reads by how many milliseconds this host is ahead of the store. */
export async function readSkew({ outside, now }: Patient): Promise<number> {
  return getSkew(await readClocks(outside, now))
}

async function readDisks({ outside, endpoint }: Patient): Promise<Disks> {
  const disks = await outside.query<Disks['disks'][number]>(
    statement(
      sql`SELECT name, unreserved_space AS free, total_space AS total FROM disks WHERE NOT is_remote ORDER BY name`,
    ),
  )
  const tables = await outside.query<{ stored: number }>(
    statement(
      sql`SELECT sum(total_bytes) AS stored FROM tables WHERE database = ${string(endpoint.database)}`,
    ),
  )
  return { disks: disks.rows, stored: tables.rows[0]?.stored ?? 0 }
}

async function readMigrations({ store }: Patient): Promise<Migrations> {
  try {
    const isUnfinished = await isRestoreUnfinished(store.reader)
    return { ...(await readMigrationStatus(store.reader)), isRestoreUnfinished: isUnfinished }
  } catch (error) {
    if (error instanceof MigrationError) return { unknown: error.message }
    throw error
  }
}

async function readPublicKeys({ config, store, now }: Patient): Promise<PublicKeys> {
  return {
    keys: await listPublicKeys(store.reader),
    signing: await readSigningKeyId(config.dataDir).catch(() => undefined),
    role: config.role,
    now: now(),
  }
}

function readLoaderLease({ store }: Patient): Promise<LeaseStatus> {
  return readLeaseStatus(store.writer, 'loader')
}

async function readRollups({ store }: Patient): Promise<RollupFacts> {
  const done = await listMonthsDone(store.writer, await readBuild(store.writer))
  return {
    state: await readRollupState(store.reader),
    monthsDone: done?.size ?? 0,
    lease: await readLeaseStatus(store.writer, 'rollups'),
  }
}

async function readTables(patient: Patient): Promise<TableFacts> {
  const { writer } = patient.store
  // First the tables: a process that takes the lease meanwhile makes new ones.
  const leased = await listTemporaryTables(writer, [LOAD_TABLES, DELETION_TABLES])
  const shadow = await listTemporaryTables(writer, [SHADOW_TABLES])
  const renewed = await listTemporaryTables(writer, [TRIAL_TABLES, STAGING_TABLES])
  const lease = await readLoaderLease(patient)
  return { leased, shadow, renewed, lease, rollupsLease: await readLeaseStatus(writer, 'rollups') }
}
