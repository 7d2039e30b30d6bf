/** Deletes the data that projects keep no longer, and goes on with deletions of projects, once an hour while the service runs. */
import { setTimeout as sleep } from 'node:timers/promises'
import {
  doClocksAgree,
  getEarliest,
  getSkew,
  readClocks,
  type Clocks,
} from '../clickhouse/clocks.js'
import { hideAtOnce } from '../changes/announce-change.js'
import type { Connection } from '../clickhouse/connection.js'
import { fenceConnection, withLowPriority } from '../clickhouse/connection-wrappers.js'
import { sql, statement, string } from '../clickhouse/sql.js'
import type { Store } from '../clickhouse/store.js'
import { findLatest } from '../cluster/shard-reads.js'
import { finishInterruptedWork } from '../ingest/loader/loader.js'
import type { LoaderContext } from '../ingest/loader/loader-context.js'
import { withLoaderLease, withLoaderLeases, type Held } from '../ingest/loader/with-loader-lease.js'
import { UserError } from '../lib/errors.js'
import type { Logger } from '../lib/log.js'
import { startRepeating } from '../lib/repeat.js'
import { formatDay, formatDuration, HOUR_MS } from '../lib/time.js'
import { findNewestEventTime } from '../projects/event-times.js'
import type { StoredProject } from '../projects/project.js'
import { listProjects, markCut } from '../projects/store.js'
import { decideCutoff, getFirstKeptDay, updateRecord, type RecordedCutoff } from './cutoff.js'
import { forgetCutoffs, readCutoffs, writeCutoff } from './cutoff-store.js'
import { startExpiration } from './expiration-journal.js'
import { finishExpirations } from './expiration-steps.js'
import { createHoldReporter, type HeldProject, type HoldCounts } from './held-projects.js'
import { KEYS_END_MS } from './project-deletion-steps.js'

/** A store with the context of its loader. */
export interface LoadedStore {
  readonly store: Store
  readonly context: LoaderContext
}

interface DeletionOptions {
  readonly logger: Logger
  /** Records at the home of a cluster what `markCut` records. */
  readonly markCut: (projectId: string) => Promise<boolean>
  /** How long services know of a project what they read before, in milliseconds. */
  readonly waitMs?: number
  /** Ends the wait. */
  readonly stop?: AbortSignal
}

/** What an expiration may change. */
interface ExpirationOptions extends LoadedStore, Omit<DeletionOptions, 'markCut'> {
  /** If left out, the store is the home. */
  readonly markCut?: DeletionOptions['markCut']
  /**
   * Finds the stores of a project, in the order of the cluster. Its days go from all of them at one moment, and the first of them decides
   * which. If left out, each project lives on this store alone.
   */
  readonly findStores?: (project: Pick<StoredProject, 'id' | 'shards'>) => readonly LoadedStore[]
}

interface RepeatedExpirationOptions extends ExpirationOptions {
  readonly now: () => Date
  /** Is called after each look at all projects. */
  readonly onHeld?: ((counts: HoldCounts) => void) | undefined
}

/** A project that keeps data for a time. */
interface KeptProject extends Pick<StoredProject, 'id' | 'shards'> {
  readonly keepDays: number
}

/**
 * Deletes what each project keeps no longer: its events before the first kept day, which `decideCutoff` decides, and its
 * sessions that began before it. The first call for a project with such data only records that sessions will be deleted whose
 * later events are kept. If the clocks differ by more than a minute, nothing is deleted.
 *
 * @returns the projects with data that should be deleted by the clock and is kept
 */
export async function expireProjects(
  options: ExpirationOptions,
  clocks: Clocks,
): Promise<readonly HeldProject[]> {
  const { store, context, findStores = () => [{ store, context }] } = options
  const writer = withLowPriority(store.writer)
  const { markCut: mark = (id: string) => markCut(writer, id) } = options
  const projects = await listProjects(store.lookups)
  // An interrupted deletion that no load of this shard goes on with.
  if (projects.some(({ isDeleting, shards }) => isDeleting && shards.length > 0)) {
    await withLoaderLease(writer, (fenced) => finishInterruptedWork(fenced, context))
  }
  const kept = projects.flatMap(({ id, shards, keepDays, isDeleting }) =>
    keepDays === null || isDeleting ? [] : [{ id, shards, keepDays }],
  )
  const cutoffs = await readCutoffs(writer)
  const ids = new Set(kept.map(({ id }) => id))
  await forgetCutoffs(
    writer,
    [...cutoffs.keys()].filter((id) => !ids.has(id)),
  )
  if (!doClocksAgree(clocks)) return kept.map(({ id }) => ({ projectId: id, hold: 'clocks' }))
  const held: HeldProject[] = []
  const now = getEarliest([clocks])
  // A shard that is away ends this: projects that it does not concern come first.
  for (const project of kept.toSorted((one, other) => one.shards.length - other.shards.length)) {
    const stores = findStores(project)
    // The first one of its stores expires it.
    if (stores[0]?.store.lookups !== store.lookups) continue
    held.push(
      ...(await expireProject({ ...options, markCut: mark }, stores, project, now, cutoffs)),
    )
  }
  return held
}

/** Returns the project if it has data that should be deleted by the clock and is kept. */
async function expireProject(
  options: DeletionOptions,
  stores: readonly LoadedStore[],
  project: KeptProject,
  now: Date,
  cutoffs: ReadonlyMap<string, RecordedCutoff>,
): Promise<readonly HeldProject[]> {
  const { id, keepDays } = project
  const newest = await findLatest(stores, ({ store }) =>
    findNewestEventTime(store.lookups, id, now),
  )
  if (newest === null) return []
  const facts = { now, keepDays, newest, last: cutoffs.get(id) }
  const { keptFrom, due, hold } = decideCutoff(facts)
  const record = updateRecord(facts, { keptFrom })
  if (record !== undefined) await writeCutoffs(stores, id, record)
  await deleteBefore(options, stores, id, keptFrom, { isForced: false, end: 'deleted' })
  const isHeld = hold !== undefined && (await haveExpiredData(stores, id, due))
  return isHeld ? [{ projectId: id, hold, keepDays, keptFrom, due }] : []
}

/** Records a cutoff on all stores of a project: the first of them may be another one later. */
async function writeCutoffs(
  stores: readonly LoadedStore[],
  projectId: string,
  record: RecordedCutoff,
): Promise<void> {
  for (const { store } of stores) await writeCutoff(store.writer, projectId, record)
}

/**
 * Deletes at once what a project is to keep no longer by the clock, without the limits of `decideCutoff`.
 *
 * @param stores those of the project, in the order of the cluster
 * @param clocks those of each of them
 * @param end `hidden` to return when no query counts it any more; the next holder of the loader lease deletes the rows
 * @returns the first day that is kept
 * @throws UserError if the clocks differ by more than a minute
 */
export async function forceExpiration(
  options: DeletionOptions,
  stores: readonly LoadedStore[],
  { id, keepDays }: KeptProject,
  clocks: readonly Clocks[],
  end: 'hidden' | 'deleted' = 'deleted',
): Promise<Date> {
  const wrong = clocks.find((one) => !doClocksAgree(one))
  if (wrong !== undefined) {
    const difference = formatDuration(Math.abs(getSkew(wrong)))
    throw new UserError(
      `the clocks of this host and the store differ by ${difference}, so nothing was deleted: synchronize them, with NTP for instance, then run this again`,
    )
  }
  const now = getEarliest(clocks)
  const keptFrom = getFirstKeptDay(now, keepDays)
  await writeCutoffs(stores, id, { keptFrom, keepDays, recordedAt: now })
  await deleteBefore(options, stores, id, keptFrom, { isForced: true, end })
  return keptFrom
}

/**
 * Deletes the data of a project before a day. The first call for such data only records that sessions will be cut, unless the
 * deletion is forced: services answer for some seconds by what they read about the project before. Then the days are hidden at once, and
 * deleted after these seconds. Those of a project on several stores are hidden first, too, so that they are on all stores at one moment.
 */
async function deleteBefore(
  { logger, markCut: mark, waitMs = KEYS_END_MS, stop }: DeletionOptions,
  stores: readonly LoadedStore[],
  projectId: string,
  firstKept: Date,
  { isForced, end }: { readonly isForced: boolean; readonly end: 'hidden' | 'deleted' },
): Promise<void> {
  if (!(await haveExpiredData(stores, projectId, firstKept))) return
  const isNew = await mark(projectId)
  if (isNew && !isForced) return
  const keptFrom = formatDay(firstKept)
  const isKnown = !isNew && stores.length === 1
  const getWriter = ({ store: { writer } }: LoadedStore): Connection =>
    withLowPriority(stop === undefined ? writer : fenceConnection(writer, stop))
  const isBegun = await withLoaderLeases(stores, getWriter, async (held) => {
    const expired: Held<LoadedStore>[] = []
    for (const one of held) {
      await finishInterruptedWork(one.fenced, one.context)
      // Another service may have done it while this one waited for the lease.
      if (await hasExpiredData(one.fenced, projectId, firstKept)) expired.push(one)
    }
    const start = async (): Promise<void> => {
      for (const { fenced } of expired) await startExpiration(fenced, { projectId, keptFrom })
    }
    if (isKnown && end === 'deleted') {
      await start()
      await finishAll(expired)
    } else {
      const hidden = expired.map(({ fenced, context: { noticeMs } }) => ({
        writer: fenced,
        hidden: { keptFrom },
        noticeMs,
      }))
      await hideAtOnce(hidden, projectId, start)
    }
    return expired.length > 0
  })
  if (end === 'hidden' || !isBegun) return
  if (!isKnown) {
    await sleep(waitMs, undefined, { signal: stop })
    for (const one of stores) {
      await withLoaderLease(getWriter(one), async (fenced) => {
        await finishInterruptedWork(fenced, one.context)
        await finishAll([{ ...one, fenced }])
      })
    }
  }
  logger.info({ projectId, keptFrom }, 'deleted what the project keeps no longer')
}

/** Deletes the rows of the expirations of some stores. */
async function finishAll(held: readonly Held<LoadedStore>[]): Promise<void> {
  for (const { fenced, context } of held) {
    await finishExpirations(fenced, { waitMs: 0, noticeMs: context.noticeMs })
  }
}

/** Runs `expireProjects` at once and then every hour. Returns a function that stops after the current statement. */
export function startExpirations(options: RepeatedExpirationOptions): () => Promise<void> {
  const { store, logger, now, onHeld } = options
  const report = createHoldReporter(logger)
  return startRepeating(async (stop) => {
    // What is interrupted is finished after the next start.
    const fenced = { ...store, writer: fenceConnection(store.writer, stop) }
    try {
      const clocks = await readClocks(store.lookups, now)
      const held = await expireProjects({ ...options, store: fenced, stop }, clocks)
      onHeld?.(report(held, clocks))
    } catch (error) {
      if (stop.aborted) return
      logger.warn({ err: error }, 'data that is kept no longer could not be deleted')
    }
  }, HOUR_MS)
}

async function haveExpiredData(
  stores: readonly LoadedStore[],
  projectId: string,
  firstKept: Date,
): Promise<boolean> {
  const found = await Promise.all(
    stores.map(({ store }) => hasExpiredData(store.lookups, projectId, firstKept)),
  )
  return found.includes(true)
}

async function hasExpiredData(
  connection: Connection,
  projectId: string,
  firstKept: Date,
): Promise<boolean> {
  const keptFrom = string(formatDay(firstKept))
  const isExpired = sql`project_id = ${string(projectId)} AND toDate`
  const { rows } = await connection.query(
    statement(sql`
SELECT 1 FROM (
  (SELECT 1 FROM events WHERE ${isExpired}(timestamp) < toDate(${keptFrom}) LIMIT 1)
  UNION ALL
  (SELECT 1 FROM sessions WHERE ${isExpired}(start_at) < toDate(${keptFrom}) LIMIT 1)
)`),
  )
  return rows.length > 0
}
