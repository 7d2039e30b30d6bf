/** Runs operations in the background. A process that is killed leaves its operation to the next one. */
import { LeaseTimeoutError, withLease } from '../clickhouse/lease/lease.js'
import { locate, type Cluster, type Shard } from '../cluster/cluster.js'
import type { DeletionResult } from '../contract/management-api.js'
import { deleteProjectFromShards } from '../deletion/delete-from-shards.js'
import { deleteUsersFromShards } from '../deletion/delete-users.js'
import type { LoaderContext } from '../ingest/loader/loader-context.js'
import { UserError } from '../lib/errors.js'
import type { Logger } from '../lib/log.js'
import { startRepeating } from '../lib/repeat.js'
import { settleAll } from '../lib/settle.js'
import { SECOND_MS } from '../lib/time.js'
import { findProject, requireProject } from '../projects/store.js'
import { createResidenceCheck } from '../relocation/describe.js'
import { listOpenOperations, recordState, type StoredOperation } from './operations.js'

export interface RunnerOptions {
  readonly cluster: Cluster
  /** Returns the context of the loader of a shard. */
  readonly getContext: (shard: Shard) => LoaderContext
  readonly logger: Logger
  readonly now: () => Date
  /** The time from the end of a deleted project's keys to the deletion of its data; that of a service if left out. */
  readonly waitMs?: number
}

interface Runner {
  /** Looks for operations now. */
  readonly wake: () => void
  readonly stop: () => Promise<void>
}

/** How many projects are deleted at the same time. */
const MAX_TOGETHER = 8

/** How long an operation of another process waits until this one looks for it. */
const PAUSE_MS = 5 * SECOND_MS

/** Starts to run the operations of a store. */
export function startOperations(options: RunnerOptions): Runner {
  const { logger } = options
  let running: Promise<void> | undefined
  const state = { isWanted: false, isStopped: false }
  const takeWish = (): boolean => {
    const { isWanted } = state
    state.isWanted = false
    return isWanted && !state.isStopped
  }
  const run = async (): Promise<void> => {
    while (takeWish()) {
      await runOperations(options, () => state.isStopped).catch((err: unknown) =>
        logger.warn({ err }, 'operations cannot be run now; they are tried again'),
      )
    }
  }
  const wake = (): Promise<void> => {
    state.isWanted = true
    running ??= run().finally(() => (running = undefined))
    return running
  }
  const stop = startRepeating(() => wake(), PAUSE_MS)
  return {
    wake: () => void wake(),
    stop: async () => {
      state.isStopped = true
      await stop()
      await running
    },
  }
}

/** Runs the operations that have not ended, unless another process does. @param isStopped is asked before each */
export async function runOperations(
  options: RunnerOptions,
  isStopped: () => boolean = () => false,
): Promise<void> {
  const { writer } = options.cluster.home.store
  if ((await listOpenOperations(writer)).length === 0) return
  try {
    await withLease(
      writer,
      'operations',
      async ({ signal }) => {
        for (;;) {
          const next = chooseNext(await listOpenOperations(writer))
          if (next.length === 0 || isStopped() || signal.aborted) return
          await settleAll(next.map((operation) => runOperation(options, operation)))
        }
      },
      { waitMs: 0 },
    )
  } catch (error) {
    if (!(error instanceof LeaseTimeoutError)) throw error
  }
}

/** Deletions of projects mostly wait for their keys to end, so some run at the same time. Anything else runs alone, in order. */
function chooseNext(open: readonly StoredOperation[]): readonly StoredOperation[] {
  const [first] = open
  if (first?.kind !== 'project_deletion') return open.slice(0, 1)
  return open.filter(({ kind }) => kind === 'project_deletion').slice(0, MAX_TOGETHER)
}

async function runOperation(options: RunnerOptions, operation: StoredOperation): Promise<void> {
  const { cluster, now, logger } = options
  const { writer } = cluster.home.store
  const running =
    operation.state === 'running'
      ? operation
      : await recordState(writer, operation, { state: 'running' })
  const end = { request: null, endedAt: now() }
  try {
    const result = await work(options, operation)
    await recordState(writer, running, { ...end, state: 'done', result, endedAt: now() })
  } catch (error) {
    // Any other error is the store's: the operation is tried again.
    if (!(error instanceof UserError)) throw error
    logger.warn({ operation: operation.id, err: error }, 'an operation failed')
    await recordState(writer, running, {
      ...end,
      state: 'failed',
      error: error.message,
      endedAt: now(),
    })
  }
}

const work = (options: RunnerOptions, operation: StoredOperation): Promise<DeletionResult> => {
  const { request } = operation
  if (request === null) throw new UserError('the operation has no request')
  return request.kind === 'project_deletion'
    ? deleteWholeProject(options, operation.projectId)
    : deleteSomeUsers(options, operation.projectId, request.userIds)
}

async function deleteWholeProject(
  { cluster, getContext, waitMs }: RunnerOptions,
  projectId: string,
): Promise<DeletionResult> {
  // A process that was killed may have deleted it.
  if ((await findProject(cluster.home.store.writer, projectId)) === undefined) return NOTHING
  const { events, users } = await deleteProjectFromShards(cluster, projectId, getContext, waitMs)
  return { events, users, unknownUserIds: [] }
}

const NOTHING: DeletionResult = { events: 0, users: 0, unknownUserIds: [] }

async function deleteSomeUsers(
  { cluster, getContext }: RunnerOptions,
  projectId: string,
  userIds: readonly string[],
): Promise<DeletionResult> {
  const project = await requireProject(cluster.home.store.writer, projectId)
  const shards = locate(cluster, project).map((shard) => ({ ...shard, loader: getContext(shard) }))
  const check = createResidenceCheck(cluster, project)
  const { events, users, unknownUserIds } = await deleteUsersFromShards(
    shards,
    projectId,
    userIds,
    check,
  )
  return { events, users, unknownUserIds }
}
