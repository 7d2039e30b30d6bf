/** Examines one store for `tallyhouse doctor`: opens it without preparing it, and makes its checks in the order in which each can be made. */
import { types } from 'node:util'
import { hasEngine, openEngine, type OpenedEngine } from '../../bootstrap/open-engine.js'
import type { ShardPlace } from '../../bootstrap/shard-places.js'
import { NoEngineError } from '../../clickhouse/embedded/engine.js'
import { connect } from '../../clickhouse/connection.js'
import { getClickHouseReason, isClickHouseError, isUnreachable } from '../../clickhouse/errors.js'
import { sql, statement } from '../../clickhouse/sql.js'
import { watchReplicas } from '../../clickhouse/replicas/watch.js'
import { connectStore } from '../../clickhouse/store.js'
import type { ReplicaSet } from '../../clickhouse/endpoint.js'
import type { Config } from '../../config/config.js'
import { SECOND_MS } from '../../lib/time.js'
import { examineReplicas, listReplicaFaults } from '../shared/examine-replicas.js'
import { fail, MIGRATE, ok, warn, type Finding } from './judgments.js'
import {
  DATABASE,
  MIGRATIONS,
  PUBLIC_KEYS,
  SERVER,
  type Patient,
  type StoreCheck,
} from './store-checks.js'

/** A check that was made. */
export interface Examined extends Finding {
  readonly name: string
}

/** A store that answers nothing for this long is away. */
const GREETING_TIMEOUT_MS = 5 * SECOND_MS
/** The longest that one check may take. */
const CHECK_TIMEOUT_MS = 15 * SECOND_MS

export interface OpenedPatient {
  readonly patient: Patient
  close(): Promise<void>
}

/** Opens a store without preparing it; returns the finding instead if there is none. */
export async function openPatient(
  config: Config,
  place: ShardPlace,
  now: () => Date,
): Promise<OpenedPatient | Finding> {
  const opened = await openEndpoint(place)
  if ('verdict' in opened) return opened
  const { endpoint, engine } = opened
  const watch = endpoint.replicas && watchReplicas(endpoint.replicas)
  // Without an active one, the first check says so.
  await watch?.look().catch(() => undefined)
  const store = connectStore(endpoint)
  const outside = connect({ ...endpoint, database: 'system' }, 'admin')
  const own = { ...config, clickhouse: place.clickhouse, dataDir: place.dataDir }
  return {
    patient: { config: own, endpoint, store, outside, now },
    close: async () => {
      await watch?.stop()
      await Promise.all([store.close(), outside.close()])
      await engine?.stop()
    },
  }
}

/** Finds the store without preparing it; returns the finding instead if there is none. */
async function openEndpoint(place: ShardPlace): Promise<OpenedEngine | Finding> {
  const { clickhouse, dataDir, member } = place
  if (clickhouse !== undefined) return { endpoint: clickhouse, engine: undefined }
  try {
    return (await hasEngine(dataDir))
      ? await openEngine({ dataDir, member, purpose: 'tallyhouse doctor' })
      : fail(`there is no database in ${dataDir} yet`, `check DATA_DIR, or ${MIGRATE}`)
  } catch (error) {
    return error instanceof NoEngineError
      ? fail(error.reason, error.cure)
      : fail(getMessage(error), 'look at the log of the service that uses this data folder')
  }
}

/** Makes the checks of a store. @param isHome whether the store has the keys */
export async function examineOpened(
  patient: Patient,
  isHome: boolean,
): Promise<readonly Examined[]> {
  const greeting = { name: 'store', ...(await greet(patient)) }
  const replicas = patient.endpoint.replicas
  const members =
    replicas === undefined ? [] : [{ name: 'replicas', ...(await judgeReplicas(replicas)) }]
  if (greeting.verdict === 'fail') return [greeting, ...members]
  const server = await Promise.all(SERVER.map((check) => makeCheck(check, patient)))
  const migrations = await makeCheck(MIGRATIONS, patient)
  // A table that is missing because of a migration is reported once.
  const isIncomplete = migrations.verdict === 'fail'
  const checks = isHome ? [PUBLIC_KEYS, ...DATABASE] : DATABASE
  const database = await Promise.all(checks.map((check) => makeCheck(check, patient)))
  return [
    ...[greeting, ...members, ...server, migrations],
    ...database.filter(({ isAbsent = false }) => !(isIncomplete && isAbsent)),
  ].map(({ name, verdict, finding, advice }) => ({ name, verdict, finding, advice }))
}

/** Keeper answers, each replica has the same tables and can write them, and events are stored on two disks. */
async function judgeReplicas(set: ReplicaSet): Promise<Finding> {
  const faults = listReplicaFaults(await examineReplicas(set))
  return faults.length === 0
    ? ok('all replicas answer, reach Keeper and have the same tables')
    : fail(faults.join('; '), 'run "tallyhouse cluster status"; docs/cluster.md says what to do')
}

async function greet({ config, endpoint, outside }: Patient): Promise<Finding> {
  const isEmbedded = config.clickhouse === undefined
  const place = isEmbedded ? `embedded in ${config.dataDir}` : `at ${endpoint.url}`
  try {
    const { rows } = await outside.query<{ version: string }>(
      statement(sql`SELECT version() AS version`),
      { signal: AbortSignal.timeout(GREETING_TIMEOUT_MS) },
    )
    return ok(`ClickHouse ${rows[0]?.version ?? ''}, ${place}`)
  } catch (error) {
    if (isClickHouseError(error, 'AUTHENTICATION_FAILED')) {
      const { username } = endpoint.accounts.admin
      return fail(
        `ClickHouse ${place} refuses the account ${username}`,
        'correct the user and the password in CLICKHOUSE_URL',
      )
    }
    const why = isUnreachable(error) ? getMessage(error) : 'no answer within 5 seconds'
    return fail(
      `ClickHouse ${place} does not respond: ${getClickHouseReason(error) ?? why}`,
      isEmbedded ? 'look at the log of the service that runs it' : adviseOnServer(why),
    )
  }
}

/** @param why the message of the failure */
const adviseOnServer = (why: string): string =>
  why.includes('certificate')
    ? 'use a certificate for the host in CLICKHOUSE_URL, and name the file of its authority in NODE_EXTRA_CA_CERTS'
    : 'check that it runs, and that this host reaches the address in CLICKHOUSE_URL'

type Made = Examined & {
  /** Whether the check failed because of a table or column that does not exist. */
  readonly isAbsent?: boolean
}

async function makeCheck({ name, examine: check }: StoreCheck, patient: Patient): Promise<Made> {
  const { promise: expired, clear } = expire(CHECK_TIMEOUT_MS)
  try {
    return { name, ...(await Promise.race([check(patient), expired])) }
  } catch (error) {
    const isAbsent = ABSENCES.some((type) => isClickHouseError(error, type))
    if (isAbsent)
      return { name, isAbsent, ...fail(`cannot be checked: ${getMessage(error)}`, MIGRATE) }
    return { name, ...describeFailure(error) }
  } finally {
    clear()
  }
}

const ABSENCES = ['UNKNOWN_DATABASE', 'UNKNOWN_TABLE', 'UNKNOWN_IDENTIFIER']

export function describeFailure(error: unknown): Finding {
  const finding = `cannot be checked: ${getMessage(error)}`
  if (isClickHouseError(error, 'AUTHENTICATION_FAILED')) {
    return fail(finding, 'correct the accounts in CLICKHOUSE_WRITER_… and CLICKHOUSE_READER_…')
  }
  return isClickHouseError(error, 'ACCESS_DENIED')
    ? warn(finding, 'grant the account this right, or run "tallyhouse doctor" with one that has it')
    : fail(finding, 'remove the cause, then run "tallyhouse doctor" again')
}

/** Returns a promise that rejects after a time, unless it is cleared. */
function expire(ms: number): { readonly promise: Promise<never>; readonly clear: () => void } {
  let timer: NodeJS.Timeout | undefined
  const promise = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms / SECOND_MS} seconds`)), ms)
  })
  return { promise, clear: () => clearTimeout(timer) }
}

/** The texts of ClickHouse can be long. */
const MAX_MESSAGE = 200

function getMessage(error: unknown): string {
  const text =
    getClickHouseReason(error) ?? (types.isNativeError(error) ? error.message : 'failure')
  return text.replaceAll(/\s+/g, ' ').slice(0, MAX_MESSAGE)
}
