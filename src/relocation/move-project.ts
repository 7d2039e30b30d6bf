/** Moves a project from one shard to another, while queries are answered and events are accepted. */
import { setTimeout as sleep } from 'node:timers/promises'
import { selectProject, withChange } from '../changes/announce-change.js'
import { forgetChanges } from '../changes/left-changes.js'
import { fenceConnection } from '../clickhouse/connection-wrappers.js'
import { LeaseTimeoutError, withLease } from '../clickhouse/lease/lease.js'
import type { Connection } from '../clickhouse/connection.js'
import type { Cluster, Shard } from '../cluster/cluster.js'
import { readNextNumber } from '../ingest/loader/load-log.js'
import { finishInterruptedWork, loadWaiting } from '../ingest/loader/loader.js'
import type { LoaderContext } from '../ingest/loader/loader-context.js'
import { withLoaderLease } from '../ingest/loader/with-loader-lease.js'
import { UserError } from '../lib/errors.js'
import { SECOND_MS } from '../lib/time.js'
import { LEASE_TIMEOUT_MS } from '../rollups/process-months.js'
import { findProject } from '../projects/store.js'
import { beginMove, locateMove, type BegunMove } from './begin-move.js'
import { forwardRows } from './forward-rows.js'
import { copyImports } from './imports.js'
import { findMove, recordStep, STEP } from './journal.js'
import { attachRows, deleteRows, dropStagedTables, findDifferences, stageRows } from './staging.js'
import { findOnlyShard, switchDirectory } from './switch-directory.js'

export interface MoveOptions {
  readonly cluster: Cluster
  /** Returns the context of the loader of a shard. */
  readonly getContext: (shard: Shard) => LoaderContext
  /** The time from the switch to the deletion of the data at the source, in milliseconds. */
  readonly settleMs?: number
  /** Is called with what the move does next. */
  readonly onProgress?: (text: string) => void
}

/**
 * The time from the switch to the deletion of the data at the source: services use what they know of a project for up to a
 * minute, and a query then takes up to 10 seconds by default.
 */
export const SETTLE_MS = 75 * SECOND_MS

/**
 * Moves a project. Its data is copied while the source loads; what has changed by then is copied while the loader of the source
 * pauses. Calling it again goes on after an interruption.
 *
 * @param to the name of the shard to move to
 * @throws UserError if the project cannot be moved there, or another move is running
 */
export const moveProject = (options: MoveOptions, projectId: string, to: string): Promise<void> =>
  withMoves(options, async (cluster) => {
    const begun = await beginMove(cluster, projectId, to)
    const run = { onProgress: () => undefined, ...options, cluster }
    if (!(await isSwitched(cluster, begun))) await switchOver(run, begun)
    const move = await recordStep(cluster.home.store.writer, begun.move, STEP.switched)
    await clearSource(run, begun)
    await recordStep(cluster.home.store.writer, move, STEP.ended)
  })

/**
 * Gives up a move that has not switched yet: the project stays where it is.
 *
 * @throws UserError if there is none, or it has switched
 */
export const abortMove = (options: MoveOptions, projectId: string): Promise<void> =>
  withMoves(options, async (cluster) => {
    const { writer } = cluster.home.store
    const move = await findMove(writer, projectId)
    if (move === undefined) throw new UserError(`the project ${projectId} is not being moved`)
    const begun = locateMove(cluster, move)
    if (await isSwitched(cluster, begun)) {
      throw new UserError(
        `the project ${projectId} lives on ${move.target} already: finish the move`,
      )
    }
    const target = begun.target.store.writer
    await withLoaderLease(target, async (fenced) => {
      await finishInterruptedWork(fenced, options.getContext(begun.target))
      await deleteRows(fenced, projectId)
    })
    await dropStagedTables(target)
    await recordStep(writer, move, STEP.ended)
  })

/** A killed move holds its lease until it expires. */
const LEASE_WAIT_MS = 12 * SECOND_MS

/** Runs one move at a time; its connections send nothing once another process may have taken over. */
async function withMoves(
  { cluster }: MoveOptions,
  work: (cluster: Cluster) => Promise<void>,
): Promise<void> {
  const options = { waitMs: LEASE_WAIT_MS, requestsTurn: false }
  const run = ({ signal }: { readonly signal: AbortSignal }): Promise<void> => {
    const fence = ({ name, store }: Shard): Shard => ({
      name,
      store: { ...store, writer: fenceConnection(store.writer, signal) },
    })
    const [home, ...others] = cluster.shards
    const fenced = fence(home)
    return work({ home: fenced, shards: [fenced, ...others.map(fence)] })
  }
  try {
    await withLease(cluster.home.store.writer, 'moves', run, options)
  } catch (error) {
    if (!(error instanceof LeaseTimeoutError)) throw error
    throw new UserError('another project is being moved: try again when that has ended')
  }
}

/** Whether the project lives on its new shard, which may not be recorded in the journal yet. */
async function isSwitched({ home }: Cluster, { move }: BegunMove): Promise<boolean> {
  if (move.reached >= STEP.switched) return true
  const project = await findProject(home.store.writer, move.projectId)
  return project !== undefined && findOnlyShard(project, home.name) === move.target
}

type Run = Required<Pick<MoveOptions, 'cluster' | 'getContext' | 'onProgress'>> &
  Pick<MoveOptions, 'settleMs'>

/** How often the data is compared and copied while the source loads. Each time there is less. */
const PASSES = 3

/** Copies the data, and switches the directory to the target once that has all of it. */
async function switchOver(run: Run, begun: BegunMove): Promise<void> {
  const { onProgress } = run
  const { move, source, target } = begun
  const to = target.store.writer
  const stage = (from: typeof to): Promise<number> =>
    stageRows(from, to, move, (table, partitions) =>
      onProgress(`copied ${partitions} partitions of ${table}`),
    )
  for (let pass = 0; pass < PASSES; pass++) if ((await stage(source.store.writer)) === 0) break
  // A rebuild of rollups would swap in what it computed before the attachment.
  await withLease(to, 'rollups', ({ signal }) => finishSwitch(run, begun, signal), ROLLUPS_WAIT)
  onProgress(`the project lives on ${target.name}`)
}

const ROLLUPS_WAIT = { waitMs: LEASE_TIMEOUT_MS }

/** Switches while neither of the shards loads. @param lost is aborted once the lease `rollups` of the target is lost */
async function finishSwitch(run: Run, begun: BegunMove, lost: AbortSignal): Promise<void> {
  const { cluster, getContext, onProgress } = run
  const { move, source, target } = begun
  onProgress(`${source.name} loads what waits, and pauses`)
  await withLoaderLease(source.store.writer, async (from) => {
    await loadWaiting(from, getContext(source))
    if (move.base + (await readNextNumber(from)) > move.last) throw new UserError(TOO_MANY_LOADS)
    await stageRows(from, fenceConnection(target.store.writer, lost), move)
    await withLoaderLease(fenceConnection(target.store.writer, lost), async (to) => {
      const context = getContext(target)
      await finishInterruptedWork(to, context)
      const attach = async (): Promise<void> => {
        await attachRows(to, move)
        await copyImports(from, to, move)
        await requireSame(from, to, begun)
        await switchDirectory(cluster, move.projectId, source, target)
      }
      await withChange(to, selectProject(move.projectId), attach, context.noticeMs)
    })
  })
}

const TOO_MANY_LOADS = 'the move has taken too long: give it up with --abort, and begin again'

/** @throws Error if the target has not the same rows as the source */
async function requireSame(
  from: Connection,
  to: Connection,
  { move, target }: BegunMove,
): Promise<void> {
  const [difference] = await findDifferences(from, to, move)
  if (difference === undefined) return
  const { table, part } = difference
  throw new Error(`partition ${part} of ${table} differs on ${target.name} from ${move.source}`)
}

/** How often services that missed the switch are looked after. */
const FORWARD_INTERVAL_MS = 2 * SECOND_MS

/** Deletes the data at the source once no service asks it any more. What still arrives there is forwarded. */
async function clearSource(run: Run, { move, source, target }: BegunMove): Promise<void> {
  const { cluster, getContext, onProgress, settleMs = SETTLE_MS } = run
  onProgress(`in ${Math.ceil(settleMs / SECOND_MS)} seconds the data of ${source.name} is deleted`)
  const end = performance.now() + settleMs
  while (performance.now() < end) {
    await forwardRows(cluster)
    await sleep(Math.min(FORWARD_INTERVAL_MS, Math.max(0, end - performance.now())))
  }
  await withLoaderLease(source.store.writer, async (fenced) => {
    await loadWaiting(fenced, getContext(source))
    await deleteRows(fenced, move.projectId)
    await forgetChanges(fenced, move.projectId)
  })
  await forwardRows(cluster)
  await dropStagedTables(target.store.writer)
}
