/** Brings a store up to date for a process that writes; checks that it is up to date for one that only reads. */
import { setTimeout as sleep } from 'node:timers/promises'
import { fenceConnection, withLowPriority } from '../clickhouse/connection-wrappers.js'
import type { Endpoint } from '../clickhouse/endpoint.js'
import { migrate } from '../clickhouse/migrations/migrate.js'
import { readMigrationStatus } from '../clickhouse/migrations/migration-status.js'
import type { Store } from '../clickhouse/store.js'
import { finishInterruptedWork } from '../ingest/loader/loader.js'
import type { LoaderContext } from '../ingest/loader/loader-context.js'
import { addMissingAttributes } from '../ingest/loader/steps/shared/load-tables.js'
import { UserError } from '../lib/errors.js'
import type { Logger } from '../lib/log.js'
import { formatDuration, MINUTE_MS, SECOND_MS } from '../lib/time.js'
import { ensureRollups, isBuildLong } from '../rollups/ensure-rollups.js'
import { pairLargeProjects } from '../rollups/paired-projects.js'
import { readRollupState, STATE_NOTICE_MS, type RollupState } from '../rollups/progress.js'
import type { WaitOptions } from './retry-while-away.js'

/**
 * How a process uses the store, and what is checked or done first:
 *
 * - `any`: it takes the store as it is. Nothing is checked.
 * - `read`: it reads tables. Every migration must have been applied.
 * - `read-rollups`: it reads rollups too. They must also have been built with this build's definition.
 * - `write`: it writes. Missing migrations are applied and outdated rollups are rebuilt.
 */
export type StoreAccess = 'any' | 'read' | 'read-rollups' | 'write'

const HOW_TO_UPDATE = 'run "tallyhouse migrate"'

/** When outdated rollups are rebuilt: before the store is used, or later, by `startRollupBuild`. */
export type RollupBuild = 'first' | 'later'

/**
 * Applies missing migrations, then rebuilds the rollups if their definition has changed. A store without facts has nothing
 * to rebuild, and gets its rollups in any case.
 *
 * When `stop` is aborted, no further statement is sent and the running one is cancelled. The store is then as after the
 * end of the process at that moment: the leases expire, and the next call goes on from there.
 *
 * @returns the files of the migrations that were applied
 * @throws MigrationError when a migration fails, or the database is newer than this build or older than version 0.1.0;
 *   UserError when the rollups are newer
 */
export async function updateStore(
  endpoint: Endpoint,
  store: Store,
  loader: LoaderContext,
  { rollups = 'first', ...waiting }: UpdateOptions,
): Promise<readonly string[]> {
  const { onNotice, onPhase, stop = NEVER } = waiting
  onPhase?.('it applies migrations')
  const applied = await migrate(endpoint, { stop })
  for (const name of applied) onNotice?.('info', `applied migration ${name}`)
  if (applied.length > 0) await addMissingAttributes(store.admin)
  if (rollups === 'later' && (await isBuildLong(store.writer))) return applied
  onPhase?.('it builds the rollups')
  await buildRollups(store, loader, waiting)
  return applied
}

export interface UpdateOptions extends Pick<WaitOptions, 'onNotice' | 'onPhase' | 'stop'> {
  readonly rollups?: RollupBuild
}

async function buildRollups(
  { admin, writer }: Pick<Store, 'admin' | 'writer'>,
  loader: LoaderContext,
  { onNotice, onPhase, stop = NEVER }: Pick<WaitOptions, 'onNotice' | 'onPhase' | 'stop'>,
): Promise<void> {
  await ensureRollups(fence({ admin, writer }, stop), {
    finishInterruptedWork: (holder) => finishInterruptedWork(holder, loader),
    noticeMs: STATE_NOTICE_MS,
    stop,
    onMonth: (month, left) => {
      const rest = `months left: ${left.months}, about ${formatDuration(left.ms)}`
      onNotice?.('info', `rebuilt the rollups of ${month}; ${rest}`)
      onPhase?.(`it builds the rollups; ${rest}`)
    },
  })
}

/** Returns connections that send nothing once a signal is aborted. */
const fence = (
  { admin, writer }: Pick<Store, 'admin' | 'writer'>,
  signal: AbortSignal,
): Pick<Store, 'admin' | 'writer'> => ({
  admin: fenceConnection(admin, signal),
  writer: fenceConnection(writer, signal),
})

/** How often the state of the rollups is read. */
const STATE_MS = 10 * SECOND_MS
/** How often projects are looked for whose pairs are to be counted. */
const PAIRS_MS = 10 * MINUTE_MS

/**
 * Builds the rollups while the service runs, whenever they are outdated or were abandoned. Until it has finished, queries read the
 * facts. A build that fails is repeated: it goes on after the last month. From time to time it also looks for projects that have become
 * large enough to have rollups of pairs.
 *
 * @returns a function that stops the build
 */
export function startRollupBuild(
  store: Pick<Store, 'admin' | 'writer'>,
  loader: LoaderContext,
  logger: Logger,
): () => Promise<void> {
  const stopping = new AbortController()
  const { signal: stop } = stopping
  const onNotice = (level: 'info' | 'warn', text: string): void => logger[level](text)
  const background = fence({ admin: store.admin, writer: withLowPriority(store.writer) }, stop)
  let pairsAt = 0
  const buildDue = async (state: RollupState): Promise<void> => {
    if (state !== 'current') await buildRollups(background, loader, { onNotice, stop })
    if (performance.now() < pairsAt) return
    await pairLargeProjects(background, {
      finishInterruptedWork: (holder) => finishInterruptedWork(holder, loader),
      ...(loader.noticeMs === undefined ? {} : { changeNoticeMs: loader.noticeMs }),
    })
    pairsAt = performance.now() + PAIRS_MS
  }
  const build = async (): Promise<void> => {
    for (;;) {
      // A store that is away is not a build that fails.
      const state = await readRollupState(background.writer).catch(() => undefined)
      try {
        if (state !== undefined) await buildDue(state)
      } catch (error) {
        if (stop.aborted) return
        logger.warn({ err: error }, 'the rollups could not be built: the build will be repeated')
      }
      await sleep(STATE_MS, undefined, { ref: false, signal: stop })
    }
  }
  // The pause rejects when the build is stopped.
  const ended = build().catch(() => undefined)
  return async () => {
    stopping.abort()
    await ended
  }
}

/** A signal that is never aborted. */
const NEVER = new AbortController().signal

/**
 * Checks that a process can read the store as it is. Writes nothing.
 *
 * @throws UserError that names the command to run; MigrationError when the database is newer than this build or older than
 *   version 0.1.0
 */
export async function requireUpToDate(
  { reader }: Store,
  access: Exclude<StoreAccess, 'write'>,
): Promise<void> {
  if (access === 'any') return
  const { isSetUp, missing } = await readMigrationStatus(reader)
  if (!isSetUp) throw createNotSetUpError()
  if (missing.length > 0) {
    throw new UserError(`the database lacks ${missing.join(', ')}: ${HOW_TO_UPDATE}`)
  }
  if (access === 'read-rollups' && (await readRollupState(reader)) !== 'current') {
    throw new UserError(`the rollups are out of date: ${HOW_TO_UPDATE}`)
  }
}

/** Creates the error for a database to which no migration was applied. */
export const createNotSetUpError = (): UserError =>
  new UserError(`the database is not set up yet: ${HOW_TO_UPDATE}`)
