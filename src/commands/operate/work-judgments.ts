/** What `tallyhouse doctor` makes of the work that is going on in a store: loads, rebuilds, and what they left. */
import type { LeaseStatus } from '../../clickhouse/lease/lease-status.js'
import type { TemporaryTable } from '../../clickhouse/temporary-tables.js'
import { STEP, type Load } from '../../ingest/loader/load-log.js'
import { LATE_MS } from '../../ingest/loader/loader-state.js'
import type { WaitingRows } from '../../ingest/loader/stream.js'
import { formatCount } from '../../lib/counts.js'
import { DAY_MS, MINUTE_MS } from '../../lib/time.js'
import type { RollupState } from '../../rollups/progress.js'
import { listFirst } from '../shared/output.js'
import { fail, formatSeconds, MIGRATE, ok, warn, type Finding } from './judgments.js'

const START =
  'start "tallyhouse serve"; if it runs, its log says why: search for "events cannot be loaded"'

const nameHolder = (lease: LeaseStatus): string =>
  lease.state === 'free' ? 'nobody' : (lease.holder ?? 'a process')

export function judgeLease(lease: LeaseStatus): Finding {
  if (lease.state === 'free') return ok('nobody holds its lease: no load is running')
  const holder = nameHolder(lease)
  if (lease.state === 'held') return ok(`${holder} holds its lease`)
  return warn(
    `${holder} held its lease, and has been silent for ${formatSeconds(lease.silence)}`,
    'check that this process still runs; the next one that loads takes the lease over',
  )
}

/** Longer than any single step takes for which a loader lets events wait. */
const STUCK_MS = 10 * MINUTE_MS

/** @param lease that of the loader */
export function judgeInbox(
  { rows, oldestMs }: Pick<WaitingRows, 'rows' | 'oldestMs'>,
  lease: LeaseStatus,
): Finding {
  if (rows === 0) return ok('no event waits to be loaded')
  const finding = `${formatCount(rows, 'event')} waiting, the oldest for ${formatSeconds(oldestMs)}`
  if (oldestMs <= LATE_MS) return ok(finding)
  if (lease.state !== 'held' || oldestMs > STUCK_MS) return fail(finding, START)
  return warn(finding, `wait for ${nameHolder(lease)}, which is loading, importing or rebuilding`)
}

/** @param lease that of the loader */
export function judgeLoads(unfinished: readonly Load[], lease: LeaseStatus): Finding {
  if (unfinished.length === 0) return ok('every load has ended')
  const loads = unfinished.map(
    ({ number, step }) => `load ${number} ${step === STEP.staged ? 'is staged' : 'has begun'}`,
  )
  if (lease.state === 'held') return ok(`${loads.join(', ')}: ${nameHolder(lease)} is at work`)
  return fail(`${loads.join(', ')} and nobody goes on with it`, START)
}

export interface RollupFacts {
  readonly state: RollupState
  /** How many months were rebuilt under this version's definition. */
  readonly monthsDone: number
  /** The lease of the rebuild. */
  readonly lease: LeaseStatus
}

export function judgeRollups({ state, monthsDone, lease }: RollupFacts): Finding {
  if (state === 'current') return ok("complete, under this version's definition")
  if (state === 'newer') {
    return fail('a newer version has built them', 'run that version of Tallyhouse or a later one')
  }
  const done = `${formatCount(monthsDone, 'month')} done`
  if (lease.state === 'held') {
    return warn(
      `${nameHolder(lease)} rebuilds them, ${done}; queries read the events`,
      'wait for it to end',
    )
  }
  const what = state === 'building' ? 'incomplete' : 'out of date'
  return fail(
    `they are ${what}, ${done}; queries read the events`,
    `start the service, which builds them, or ${MIGRATE}`,
  )
}

export interface TableFacts {
  /** The tables of loads and deletions: those in use belong to the holder of the lease. */
  readonly leased: readonly TemporaryTable[]
  /** The tables of rebuilds and checks: those in use belong to the holder of the lease `rollups`. */
  readonly shadow: readonly TemporaryTable[]
  /** The tables of dry runs and of imports of Parquet and Arrow, which their processes renew. */
  readonly renewed: readonly TemporaryTable[]
  /** The lease of the loader. */
  readonly lease: LeaseStatus
  readonly rollupsLease: LeaseStatus
}

/** As many names as are worth reading. */
const MAX_NAMES = 5

export function judgeTables(facts: TableFacts): Finding {
  const { leased, shadow, renewed, lease, rollupsLease } = facts
  const isLeft =
    ({ state }: LeaseStatus) =>
    ({ age }: TemporaryTable): boolean =>
      state !== 'held' || age > DAY_MS
  const left = [
    ...leased.filter(isLeft(lease)),
    ...shadow.filter(isLeft(rollupsLease)),
    ...renewed.filter(({ age }) => age > DAY_MS),
  ].map(({ name }) => name)
  const used = leased.length + shadow.length + renewed.length - left.length
  if (left.length === 0) return ok(`${formatCount(used, 'table')} in use, none left over`)
  return warn(
    `nobody uses ${listFirst(left, MAX_NAMES)}`,
    'start "tallyhouse serve", which drops those of loads and rebuilds, and drop the others with DROP TABLE',
  )
}
