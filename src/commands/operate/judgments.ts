/** What the findings of `tallyhouse doctor` mean: pure functions from facts to verdicts. */
import { isValidAt, type StoredPublicKey } from '../../auth/public-keys.js'
import { MAX_SKEW_MS } from '../../clickhouse/clocks.js'
import type { MigrationStatus } from '../../clickhouse/migrations/migration-status.js'
import type { CheckedServer } from '../../clickhouse/checks/server-checks.js'
import type { Role } from '../../config/config.js'
import { formatCount } from '../../lib/counts.js'
import { SECOND_MS } from '../../lib/time.js'

/** `warn`: it works, and is worth a look; `fail`: some promise of the service does not hold. */
type Verdict = 'ok' | 'warn' | 'fail'

export interface Finding {
  readonly verdict: Verdict
  /** What was found: half a sentence. */
  readonly finding: string
  /** What to do about it: an imperative; null when there is nothing to do. */
  readonly advice: string | null
}

export const ok = (finding: string): Finding => ({ verdict: 'ok', finding, advice: null })
export const warn = (finding: string, advice: string): Finding => ({
  verdict: 'warn',
  finding,
  advice,
})
export const fail = (finding: string, advice: string): Finding => ({
  verdict: 'fail',
  finding,
  advice,
})

export const MIGRATE = 'run "tallyhouse migrate"'

export interface DataFolder {
  readonly path: string
  readonly state: 'writable' | 'read-only' | 'absent'
  /** Whether the embedded ClickHouse is in it. */
  readonly hasStore: boolean
}

export function judgeDataFolder({ path, state, hasStore }: DataFolder): Finding {
  if (state === 'writable') return ok(`${path} is writable`)
  if (state === 'absent') return ok(`${path} does not exist yet, and can be created`)
  const finding = `${path} cannot be written to`
  const advice = 'give the user of the service the right to write to DATA_DIR, or set another one'
  // With a server, only the commands that issue API keys write to it.
  return hasStore ? fail(finding, advice) : warn(finding, advice)
}

interface SigningKeyFile {
  /** The id of the key; undefined without a file. */
  readonly kid: string | undefined
  /** The permissions of the file, as in `stat`. */
  readonly mode: number
}

const OTHERS = 0o077

export function judgeSigningKey({ kid, mode }: SigningKeyFile): Finding {
  if (kid === undefined) return ok('none here: API keys are not issued on this host')
  if ((mode & OTHERS) !== 0) {
    return warn(
      `other users of this host may use the file of the key ${kid}`,
      'run "chmod 600" on DATA_DIR/keys/signing-key.json',
    )
  }
  return ok(`this host signs with ${kid}`)
}

export interface PublicKeys {
  readonly keys: readonly StoredPublicKey[]
  /** The id of the signing key of this host. */
  readonly signing: string | undefined
  readonly role: Role
  readonly now: Date
}

export function judgePublicKeys({ keys, signing, role, now }: PublicKeys): Finding {
  const valid = keys.filter((key) => isValidAt(key, now))
  if (valid.length === 0) {
    if (role === 'collector') return ok('none is valid, and a collector needs none')
    return fail(
      'none is valid, so every API key is refused',
      'issue an API key with "tallyhouse key issue", after "tallyhouse key rotate" if the signing key is retired',
    )
  }
  const own = keys.find(({ jwk }) => jwk.kid === signing)
  if (own !== undefined && !isValidAt(own, now)) {
    return warn(
      `the signing key of this host, ${own.jwk.kid}, is retired`,
      'run "tallyhouse key rotate" before you issue an API key here',
    )
  }
  return ok(`${valid.length} of ${keys.length} valid`)
}

/** @param checked one of the checks that also a start makes */
export function judgeServer({ verdict, fault = '', advice = '' }: CheckedServer): Finding {
  if (verdict === 'fit') return ok('as needed')
  return verdict === 'warn' ? warn(fault, advice) : fail(fault, advice)
}

export interface Rights {
  readonly username: string
  /** The rights that the account lacks. */
  readonly missing: readonly string[]
}

export const judgeRights = ({ username, missing }: Rights): Finding =>
  missing.length === 0
    ? ok(`${username} has the rights that it needs`)
    : fail(
        `${username} lacks ${missing.join(', ')}`,
        'grant what clickhouse/config/users.xml grants to this account',
      )

/** Expiry of keys, ages of events and the limits of a day depend on the clock; some delay of the network does not matter. */
const WORRYING_SKEW_MS = 2 * SECOND_MS

/** @param aheadMs by how much the clock of this host is ahead of the store's; negative if it is behind */
export function judgeClock(aheadMs: number): Finding {
  const skewMs = Math.abs(aheadMs)
  if (skewMs <= WORRYING_SKEW_MS) return ok('this host and the store agree')
  const finding = `this host is ${formatSeconds(skewMs)} ${aheadMs > 0 ? 'ahead of' : 'behind'} the store`
  const advice = 'synchronize the clocks of both hosts, with NTP for instance'
  return skewMs > MAX_SKEW_MS ? fail(finding, advice) : warn(finding, advice)
}

export interface Disks {
  readonly disks: readonly {
    readonly name: string
    readonly free: number
    readonly total: number
  }[]
  /** The bytes that the database takes. */
  readonly stored: number
}

const GB = 1e9
const MIN_FREE_BYTES = { warn: 5 * GB, fail: GB }
/** Merges write parts again, and a rebuild writes a month of the rollups beside the existing one. */
const FREE_SHARE = 0.5

export function judgeDisks({ disks, stored }: Disks): Finding {
  const described = disks.map(
    ({ name, free, total }) => `${formatGb(free)} of ${formatGb(total)} free on ${name}`,
  )
  const finding = `${described.join(', ')}; the database takes ${formatGb(stored)}`
  const free = Math.min(...disks.map((disk) => disk.free))
  const advice =
    'free some room, or add a larger disk: keep free at least half of what the database takes'
  if (free < MIN_FREE_BYTES.fail) return fail(finding, advice)
  return free < Math.max(MIN_FREE_BYTES.warn, stored * FREE_SHARE)
    ? warn(finding, advice)
    : ok(finding)
}

export type Migrations =
  (MigrationStatus & { readonly isRestoreUnfinished: boolean }) | { readonly unknown: string }

/** @param migrations the status, or why the migrations of the database are not those of this version */
export function judgeMigrations(migrations: Migrations): Finding {
  if ('unknown' in migrations) {
    return fail(
      migrations.unknown,
      'run a version that knows these migrations, or restore a backup',
    )
  }
  const { isSetUp, missing, isRestoreUnfinished } = migrations
  if (isRestoreUnfinished) {
    return fail(
      'a restore of this database did not end',
      'drop the database, or remove DATA_DIR/clickhouse, then restore again',
    )
  }
  if (!isSetUp) return fail('the database is not set up yet', MIGRATE)
  if (missing.length > 0) return fail(`the database lacks ${missing.join(', ')}`, MIGRATE)
  return ok('all are applied')
}

export const formatSeconds = (ms: number): string =>
  formatCount(Math.round(ms / SECOND_MS), 'second')
const formatGb = (bytes: number): string => `${(bytes / GB).toFixed(1)} GB`
