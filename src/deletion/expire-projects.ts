/** Deletes the data that projects keep no longer, and goes on with deletions of projects, once an hour while the service runs. */
import { setTimeout as sleep } from 'node:timers/promises'
import {
  doClocksAgree,
  getEarlier,
  getSkew,
  readClocks,
  type Clocks,
} from '../clickhouse/clocks.js'
import { hide } from '../changes/announce-change.js'
import type { Connection } from '../clickhouse/connection.js'
import { fenceConnection, withLowPriority } from '../clickhouse/connection-wrappers.js'
import { sql, statement, string } from '../clickhouse/sql.js'
import type { Store } from '../clickhouse/store.js'
import { finishInterruptedWork } from '../ingest/loader/loader.js'
import type { LoaderContext } from '../ingest/loader/loader-context.js'
import { withLoaderLease } from '../ingest/loader/with-loader-lease.js'
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

/** What an expiration may change. */
interface ExpirationOptions {
  readonly store: Store
  readonly context: LoaderContext
  readonly logger: Logger
  /** Records at the home of a cluster what `markCut` records; if left out, the store is the home. */
  readonly markCut?: ((projectId: string) => Promise<boolean>) | undefined
  /** How long services know of a project what they read before, in milliseconds. */
  readonly waitMs?: number
  /** Ends the wait. */
  readonly stop?: AbortSignal
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
  const { store, context } = options
  const writer = withLowPriority(store.writer)
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
  for (const project of kept) {
    held.push(...(await expireProject(options, project, getEarlier(clocks), cutoffs)))
  }
  return held
}

/** Returns the project if it has data that should be deleted by the clock and is kept. */
async function expireProject(
  options: ExpirationOptions,
  project: KeptProject,
  now: Date,
  cutoffs: ReadonlyMap<string, RecordedCutoff>,
): Promise<readonly HeldProject[]> {
  const { store } = options
  const { id, keepDays } = project
  const newest = await findNewestEventTime(store.lookups, id, now)
  if (newest === null) return []
  const facts = { now, keepDays, newest, last: cutoffs.get(id) }
  const { keptFrom, due, hold } = decideCutoff(facts)
  const record = updateRecord(facts, { keptFrom })
  if (record !== undefined) await writeCutoff(store.writer, id, record)
  await deleteBefore(options, project, keptFrom, { isForced: false, end: 'deleted' })
  const isHeld = hold !== undefined && (await hasExpiredData(store.lookups, id, due))
  return isHeld ? [{ projectId: id, hold, keepDays, keptFrom, due }] : []
}

/**
 * Deletes at once what a project is to keep no longer by the clock, without the limits of `decideCutoff`.
 *
 * @param end `hidden` to return when no query counts it any more; the next holder of the loader lease deletes the rows
 * @returns the first day that is kept
 * @throws UserError if the clocks differ by more than a minute
 */
export async function forceExpiration(
  options: ExpirationOptions,
  project: KeptProject,
  clocks: Clocks,
  end: 'hidden' | 'deleted' = 'deleted',
): Promise<Date> {
  if (!doClocksAgree(clocks)) {
    const difference = formatDuration(Math.abs(getSkew(clocks)))
    throw new UserError(
      `the clocks of this host and the store differ by ${difference}, so nothing was deleted: synchronize them, with NTP for instance, then run this again`,
    )
  }
  const { store } = options
  const { keepDays } = project
  const now = getEarlier(clocks)
  const keptFrom = getFirstKeptDay(now, keepDays)
  await writeCutoff(store.writer, project.id, { keptFrom, keepDays, recordedAt: now })
  await deleteBefore(options, project, keptFrom, { isForced: true, end })
  return keptFrom
}

/**
 * Deletes the data of a project before a day. The first call for such data only records that sessions will be cut, unless the
 * deletion is forced: services answer for some seconds by what they read about the project before. Then the days are hidden at once, and
 * deleted after these seconds.
 */
async function deleteBefore(
  { store, context, logger, waitMs = KEYS_END_MS, stop, ...options }: ExpirationOptions,
  { id: projectId, shards }: KeptProject,
  firstKept: Date,
  { isForced, end }: { readonly isForced: boolean; readonly end: 'hidden' | 'deleted' },
): Promise<void> {
  if (!(await hasExpiredData(store.lookups, projectId, firstKept))) return
  const writer = withLowPriority(store.writer)
  const mark = options.markCut ?? ((id: string) => markCut(writer, id))
  const isNew = await mark(projectId)
  if (isNew && !isForced) return
  const keptFrom = formatDay(firstKept)
  const { noticeMs } = context
  // Another shard may have recorded it a moment ago.
  const isKnown = !isNew && shards.length <= 1
  const isBegun = await withLoaderLease(writer, async (fenced) => {
    await finishInterruptedWork(fenced, context)
    // Another service may have done it while this one waited for the lease.
    if (!(await hasExpiredData(fenced, projectId, firstKept))) return false
    await startExpiration(fenced, { projectId, keptFrom })
    if (isKnown && end === 'deleted') await finishExpirations(fenced, { waitMs: 0, noticeMs })
    else await hide(fenced, projectId, { keptFrom }, noticeMs)
    return true
  })
  if (end === 'hidden') return
  if (isBegun && !isKnown) {
    await sleep(waitMs, undefined, { signal: stop })
    await withLoaderLease(writer, async (fenced) => {
      await finishInterruptedWork(fenced, context)
      await finishExpirations(fenced, { waitMs: 0, noticeMs })
    })
  }
  if (isBegun) logger.info({ projectId, keptFrom }, 'deleted what the project keeps no longer')
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
