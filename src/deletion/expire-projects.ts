/** Deletes the data that projects keep no longer, and goes on with deletions of projects, once an hour while the service runs. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from '../clickhouse/connection.js'
import { fenceConnection, withLowPriority } from '../clickhouse/connection-wrappers.js'
import { sql, statement, string } from '../clickhouse/sql.js'
import type { Store } from '../clickhouse/store.js'
import { finishInterruptedWork } from '../ingest/loader/loader.js'
import type { LoaderContext } from '../ingest/loader/loader-context.js'
import { withLoaderLease } from '../ingest/loader/with-loader-lease.js'
import type { Logger } from '../lib/log.js'
import { startRepeating } from '../lib/repeat.js'
import { addDays, HOUR_MS, startOfDay } from '../lib/time.js'
import { listProjects, markCut } from '../projects/store.js'
import { KEYS_END_MS } from './project-deletion-steps.js'
import { startExpiration } from './expiration-journal.js'
import { finishExpirations } from './expiration-steps.js'

export interface ExpirationOptions {
  readonly store: Store
  readonly context: LoaderContext
  readonly logger: Logger
  readonly now: () => Date
  /** Records at the home of a cluster what `markCut` records; if left out, the store is the home. */
  readonly markCut?: ((projectId: string) => Promise<boolean>) | undefined
}

/** What one call may change. */
interface CallOptions extends Omit<ExpirationOptions, 'now'> {
  /** How long services know of a project what they read before, in milliseconds. */
  readonly waitMs?: number
  /** Ends the wait. */
  readonly stop?: AbortSignal
}

/**
 * Deletes what each project keeps no longer at `now`: its events before the first kept day, which is `keepDays` days
 * before the current one in UTC, and its sessions that began before it. The first call for a project with such data only
 * records that sessions will be deleted whose later events are kept.
 */
export async function expireProjects(options: CallOptions, now: Date): Promise<void> {
  const { store, context, logger, waitMs = KEYS_END_MS, stop } = options
  const writer = withLowPriority(store.writer)
  const mark = options.markCut ?? ((id: string) => markCut(writer, id))
  for (const { id: projectId, keepDays, isDeleting, shards } of await listProjects(store.lookups)) {
    // An interrupted deletion that no load of this shard goes on with.
    if (isDeleting && shards.length > 0) {
      await withLoaderLease(writer, (fenced) => finishInterruptedWork(fenced, context))
    }
    if (keepDays === null || isDeleting) continue
    const keptFrom = addDays(startOfDay(now), -keepDays).toISOString().slice(0, 10)
    if (!(await hasExpiredData(store.lookups, projectId, keptFrom))) continue
    // Services answer for some seconds by what they read about the project before, so the next call deletes.
    if (await mark(projectId)) continue
    // Another shard may have recorded it a moment ago.
    if (shards.length > 1) await sleep(waitMs, undefined, { signal: stop })
    await withLoaderLease(writer, async (fenced) => {
      await finishInterruptedWork(fenced, context)
      // Another service may have done it while this one waited for the lease.
      if (!(await hasExpiredData(fenced, projectId, keptFrom))) return
      await startExpiration(fenced, { projectId, keptFrom })
      await finishExpirations(fenced, context.noticeMs)
      logger.info({ projectId, keptFrom }, 'deleted what the project keeps no longer')
    })
  }
}

/** Runs `expireProjects` at once and then every hour. Returns a function that stops after the current statement. */
export function startExpirations(options: ExpirationOptions): () => Promise<void> {
  return startRepeating(async (stop) => {
    // What is interrupted is finished after the next start.
    const store = { ...options.store, writer: fenceConnection(options.store.writer, stop) }
    await expireProjects({ ...options, store, stop }, options.now()).catch((error: unknown) => {
      if (stop.aborted) return
      options.logger.warn({ err: error }, 'data that is kept no longer could not be deleted')
    })
  }, HOUR_MS)
}

async function hasExpiredData(
  connection: Connection,
  projectId: string,
  keptFrom: string,
): Promise<boolean> {
  const isExpired = sql`project_id = ${string(projectId)} AND toDate`
  const { rows } = await connection.query(
    statement(sql`
SELECT 1 FROM (
  (SELECT 1 FROM events WHERE ${isExpired}(timestamp) < toDate(${string(keptFrom)}) LIMIT 1)
  UNION ALL
  (SELECT 1 FROM sessions WHERE ${isExpired}(start_at) < toDate(${string(keptFrom)}) LIMIT 1)
)`),
  )
  return rows.length > 0
}
