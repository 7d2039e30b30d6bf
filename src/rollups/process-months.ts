/** Computes the rollups of one month after another into shadow tables, while loads go on. */
import type { Connection } from '../clickhouse/connection.js'
import { fenceConnection } from '../clickhouse/connection-wrappers.js'
import { isClickHouseError } from '../clickhouse/errors.js'
import { underLease, type Lease } from '../clickhouse/lease/lease.js'
import { UserError } from '../lib/errors.js'
import { MINUTE_MS } from '../lib/time.js'
import { nameShadowTables, type ShadowTables } from '../model/rollup-table-sets.js'
import { backfillRollups } from './backfill.js'
import {
  estimateLeft,
  getYear,
  isOfProject,
  listMonths,
  type Month,
  type WorkLeft,
} from './months.js'
import { removeFormerUsers } from './former-users.js'
import { readRollupState } from './progress.js'
import { dropAllShadowTables, dropShadowSet, mergeShadowTables } from './shadow-tables.js'
import {
  addChanges,
  isOutdated,
  readState,
  stopRecording,
  takeSnapshot,
  type StoreState,
} from './snapshot.js'

export interface MonthsOptions {
  /** Finishes loads and deletions that were interrupted. It is called while the loader lease is held. */
  readonly finishInterruptedWork: (writer: Connection) => Promise<void>
  /** The only project to process; absent: all projects. */
  readonly projectId?: string | undefined
  /** How long services take to notice that counts change, in milliseconds. */
  readonly changeNoticeMs?: number
  /** Whether a month needs no work; absent: none does. */
  readonly isDone?: (month: Month) => boolean
  /** Called after each month. */
  readonly onMonth?: (month: Month, left: WorkLeft) => unknown
}

/** The longest wait for a lease: a loader may be in the middle of a large load. */
export const LEASE_TIMEOUT_MS = 10 * MINUTE_MS

/** A month whose rollups are in the shadow tables. */
export interface ShadowMonth {
  /** The connection of the writer; it refuses statements once a lease that the work needs is lost. */
  readonly holder: Connection
  readonly month: Month
  readonly shadow: ShadowTables
  readonly projectId: string | undefined
  /** Whether no month of the same year follows. */
  readonly endsYear: boolean
}

/** What is done with the shadow tables of a month. */
interface MonthWork {
  /** Called with the loader lease held, so that the shadow tables count the facts as they are. */
  readonly whileHeld: (shadowMonth: ShadowMonth, lease: Lease) => Promise<void>
  /** Called afterwards, while loads may go on. */
  readonly afterwards?: (shadowMonth: ShadowMonth) => Promise<void>
}

/**
 * Processes the months, the earliest first. Loads wait for moments only: the shadow tables are computed from a copy of the
 * month's facts, and what is loaded in the meantime is added to them.
 *
 * @param lease the lease `rollups`, if the caller holds it
 * @throws LeaseTimeoutError when another process holds a lease for `LEASE_TIMEOUT_MS`; UserError when the rollups are those of another
 *   version
 */
export async function forEachMonth(
  writer: Connection,
  options: MonthsOptions,
  work: MonthWork,
  lease?: Lease,
): Promise<void> {
  const { projectId, isDone, onMonth } = options
  const months = await listMonths(writer, projectId)
  const due = months.filter(({ month }) => isDone?.(month) !== true)
  const begun = performance.now()
  for (const [i, { month, rows }] of due.entries()) {
    const endsYear = getYear(due[i + 1]?.month ?? 0) !== getYear(month)
    const run = (fenced: Connection): Promise<void> =>
      processMonth({ ...options, writer: fenced, month, rows, work, endsYear })
    // One process at a time has shadow tables.
    if (lease !== undefined) await run(fenceConnection(writer, lease.signal))
    else {
      await underLease(
        writer,
        'rollups',
        async (fenced) => {
          await requireOwnDefinition(fenced)
          await run(fenced)
        },
        WAIT,
      )
    }
    await onMonth?.(month, estimateLeft(due, i + 1, performance.now() - begun))
  }
}

/** While this process waited, another version may have begun to build the rollups under its definition. */
async function requireOwnDefinition(writer: Connection): Promise<void> {
  const state = await readRollupState(writer)
  if (state === 'current' || state === 'building') return
  throw new UserError(
    'another version of Tallyhouse has built the rollups, or builds them: use that one',
  )
}

const WAIT = { waitMs: LEASE_TIMEOUT_MS }

interface MonthTask extends Pick<MonthsOptions, 'finishInterruptedWork' | 'projectId'> {
  readonly writer: Connection
  readonly month: Month
  /** About how many facts it has. */
  readonly rows: number
  readonly endsYear: boolean
  readonly work: MonthWork
}

/** The facts of the month were changed in a way that was not recorded. */
class OutdatedError extends Error {
  override readonly name = 'OutdatedError'
}

/** How often a month is computed while loads go on. The next time, loads wait. */
const MAX_ATTEMPTS = 3

async function processMonth(task: MonthTask): Promise<void> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    try {
      await attemptMonth(task, (step) => withLoaderLease(task, step))
      return
    } catch (error) {
      // A process that took the loader lease over from this one has dropped the shadow tables.
      const isPassing = error instanceof OutdatedError || isClickHouseError(error, 'UNKNOWN_TABLE')
      if (!isPassing) throw error
    }
  }
  await withLoaderLease(task, (holder, lease) => attemptMonth(task, (step) => step(holder, lease)))
}

type Step<Result> = (holder: Connection, lease: Lease) => Promise<Result>

/** Runs a step under the loader lease, after interrupted work was finished. */
const withLoaderLease = <Result>(
  { writer, finishInterruptedWork }: MonthTask,
  step: Step<Result>,
): Promise<Result> =>
  underLease(
    writer,
    'loader',
    async (holder, lease) => {
      // A load that is half published would be counted here, and again when it is finished.
      await finishInterruptedWork(holder)
      return step(holder, lease)
    },
    WAIT,
  )

/** @param hold runs the steps that need the loader lease */
async function attemptMonth(
  { writer, month, rows, projectId, endsYear, work }: MonthTask,
  hold: <Result>(step: Step<Result>) => Promise<Result>,
): Promise<void> {
  const { shadow, state } = await hold((holder, lease) => begin(holder, lease, month, projectId))
  const shadowMonth = { month, shadow, projectId, endsYear }
  try {
    await backfillRollups(writer, shadow, {
      tables: shadow.snapshot,
      rows,
      events: isOfProject(projectId),
      sessions: isOfProject(projectId),
    })
    await mergeShadowTables(writer, shadow)
    const added = { events: new Set<string>(), sessions: new Set<string>() }
    for (let round = 1; round <= MAX_ROUNDS; round++) {
      if ((await addChanges(writer, shadow, added)) < FEW_ROWS) break
    }
    await hold(async (holder, lease) => {
      await stopRecording(holder, shadow)
      // From here on the next holder of the lease drops the tables. One that came before them has left its mark.
      await lease.assertHeld()
      if (await isOutdated(holder, shadow, state)) throw new OutdatedError()
      await addChanges(holder, shadow, added)
      await removeFormerUsers(holder, shadow)
      await work.whileHeld({ ...shadowMonth, holder }, lease)
    })
    await work.afterwards?.({ ...shadowMonth, holder: writer })
  } finally {
    await dropShadowSet(writer, shadow.prefix)
  }
}

/** While loads wait, at most about this many changes are added: while much is loaded, the others are added before. */
const FEW_ROWS = 100_000
const MAX_ROUNDS = 5

/** Takes the snapshot. No other process has shadow tables: this one holds the lease `rollups`. */
async function begin(
  holder: Connection,
  lease: Lease,
  month: Month,
  projectId: string | undefined,
): Promise<{ readonly shadow: ShadowTables; readonly state: StoreState }> {
  await dropAllShadowTables(holder)
  const shadow = nameShadowTables(lease.generation)
  const state = await readState(holder)
  await takeSnapshot(holder, shadow, month, projectId)
  // If another process has loaded in the meantime, its rows may be in the snapshot and among the changes.
  await lease.assertHeld()
  return { shadow, state }
}
