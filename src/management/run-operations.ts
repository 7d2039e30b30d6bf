/** Runs operations in the background. A process that is killed leaves its operation to the next one. */
import { setTimeout as sleep } from 'node:timers/promises'
import { LeaseTimeoutError, withLease } from '../clickhouse/lease/lease.js'
import { findShard, locate, locateInOrder, type Cluster, type Shard } from '../cluster/cluster.js'
import type { DeletionResult } from '../contract/management-api.js'
import { deleteProjectFromShards, sumProjectHoldings } from '../deletion/delete-from-shards.js'
import { deleteUsersFromShards } from '../deletion/delete-users.js'
import { readProjectHoldings } from '../deletion/holdings.js'
import type { LoaderContext } from '../ingest/loader/loader-context.js'
import { UserError } from '../lib/errors.js'
import type { Logger } from '../lib/log.js'
import { startRepeating } from '../lib/repeat.js'
import { settleAll } from '../lib/settle.js'
import { SECOND_MS } from '../lib/time.js'
import { findProject, requireProject } from '../projects/store.js'
import { createResidenceCheck } from '../relocation/describe.js'
import { runImport, type Ending, type ImportRun } from './imports.js'
import {
  listOpenOperations,
  recordState,
  type ProjectDeletionRequest,
  type StoredOperation,
  type UserDeletionRequest,
} from './operations.js'
import { dropUpload } from './uploads.js'

interface RunnerOptions {
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

/** Operations that one process at a time runs. Those of different lanes run side by side. */
interface Lane {
  readonly lease: 'operations' | 'imports'
  /**
   * Chooses what is started now.
   *
   * @param open the operations of all lanes that have not ended, the oldest first
   * @param running the ids of those of this lane that run
   * @param resting the ids of those that an error of the moment has ended a moment ago
   */
  readonly choose: (
    open: readonly StoredOperation[],
    running: ReadonlySet<string>,
    resting: ReadonlySet<string>,
  ) => readonly StoredOperation[]
}

const LANES: readonly Lane[] = [
  { lease: 'operations', choose: chooseDeletions },
  { lease: 'imports', choose: chooseImports },
]

/** How many projects are deleted at the same time. */
const MAX_DELETIONS = 8
/** How many files are imported at the same time. */
const MAX_IMPORTS = 2
/** How long an operation of another process waits until this one looks for it. */
const PAUSE_MS = 5 * SECOND_MS
/** How long an operation waits until a lane that runs others looks for it. */
const LOOK_MS = SECOND_MS

/** Starts to run the operations of a store. */
export function startOperations(options: RunnerOptions): Runner {
  const runners = LANES.map((lane) => startLane(options, lane))
  return {
    wake: () => runners.forEach(({ wake }) => wake()),
    stop: async () => {
      await Promise.all(runners.map(({ stop }) => stop()))
    },
  }
}

function startLane(options: RunnerOptions, lane: Lane): Runner {
  const { logger } = options
  const stopping = new AbortController()
  let running: Promise<void> | undefined
  let isWanted = false
  const takeWish = (): boolean => {
    const wasWanted = isWanted
    isWanted = false
    return wasWanted && !stopping.signal.aborted
  }
  const run = async (): Promise<void> => {
    while (takeWish()) {
      await runLane(options, lane, stopping.signal).catch((err: unknown) =>
        logger.warn({ err }, 'operations cannot be run now; they are tried again'),
      )
    }
  }
  const wake = (): Promise<void> => {
    isWanted = true
    running ??= run().finally(() => (running = undefined))
    return running
  }
  const stop = startRepeating(() => wake(), PAUSE_MS)
  return {
    wake: () => void wake(),
    stop: async () => {
      stopping.abort()
      await stop()
      await running
    },
  }
}

/** Runs the operations that have not ended, unless another process does. @param stopping ends them where they can go on later */
export async function runOperations(
  options: RunnerOptions,
  stopping: AbortSignal = new AbortController().signal,
): Promise<void> {
  await settleAll(LANES.map((lane) => runLane(options, lane, stopping)))
}

async function runLane(options: RunnerOptions, lane: Lane, stopping: AbortSignal): Promise<void> {
  const { writer } = options.cluster.home.store
  if (lane.choose(await listOpenOperations(writer), NONE, NONE).length === 0) return
  const ending = new AbortController()
  const end = (): void => ending.abort()
  stopping.addEventListener('abort', end)
  try {
    await withLease(
      writer,
      lane.lease,
      async ({ signal }) => {
        signal.addEventListener('abort', end)
        if (!stopping.aborted) await runAll(options, lane, ending.signal)
      },
      { waitMs: 0 },
    )
  } catch (error) {
    if (!(error instanceof LeaseTimeoutError)) throw error
  } finally {
    stopping.removeEventListener('abort', end)
  }
}

const NONE: ReadonlySet<string> = new Set()

/**
 * Runs what a lane chooses until there is nothing left. What ends by an error of the moment is run again later.
 *
 * @throws the last of these errors
 */
async function runAll(options: RunnerOptions, lane: Lane, stop: AbortSignal): Promise<void> {
  const { cluster, logger } = options
  const { writer } = cluster.home.store
  const running = new Map<string, Promise<void>>()
  const failedAt = new Map<string, number>()
  const failures: unknown[] = []
  for (;;) {
    const open = stop.aborted ? [] : await listOpenOperations(writer)
    const now = performance.now()
    const resting = [...failedAt].filter(([, at]) => now - at < PAUSE_MS).map(([id]) => id)
    for (const operation of lane.choose(open, new Set(running.keys()), new Set(resting))) {
      const { id } = operation
      const ended = runOperation(options, operation, stop)
        .catch((err: unknown) => {
          logger.warn({ operation: id, err }, 'an operation was interrupted; it is run again')
          failures.push(err)
          failedAt.set(id, performance.now())
        })
        .finally(() => running.delete(id))
      running.set(id, ended)
    }
    if (running.size === 0) break
    await Promise.race([...running.values(), sleep(LOOK_MS, undefined, { ref: false })])
  }
  if (failures.length > 0) throw failures.at(-1)
}

/** Deletions of projects mostly wait for their keys to end, so some run at the same time. Those of users run alone, in order. */
function chooseDeletions(
  open: readonly StoredOperation[],
  running: ReadonlySet<string>,
  resting: ReadonlySet<string>,
): readonly StoredOperation[] {
  // They keep their order, so what has failed is run again before the others.
  if (running.size > 0 || resting.size > 0) return []
  const deletions = open.filter((one) => one.kind !== 'import' && !isBehind(one, open))
  const [first] = deletions
  if (first?.kind !== 'project_deletion') return deletions.slice(0, 1)
  return deletions.filter(({ kind }) => kind === 'project_deletion').slice(0, MAX_DELETIONS)
}

/** Imports of a project run one after another, and those of some projects at the same time. */
function chooseImports(
  open: readonly StoredOperation[],
  running: ReadonlySet<string>,
  resting: ReadonlySet<string>,
): readonly StoredOperation[] {
  const isBusy = ({ id }: StoredOperation): boolean => running.has(id) || resting.has(id)
  return open
    .filter((one) => one.kind === 'import' && !isBehind(one, open) && !isBusy(one))
    .slice(0, MAX_IMPORTS - running.size)
}

/**
 * Returns whether an operation waits for an earlier one of its project. Imports and deletions of users follow each other: otherwise an
 * import could bring back whom a later deletion has deleted.
 */
function isBehind(operation: StoredOperation, open: readonly StoredOperation[]): boolean {
  const { kind, projectId } = operation
  if (kind === 'project_deletion') return false
  return open
    .slice(0, open.indexOf(operation))
    .some(
      (one) =>
        one.projectId === projectId &&
        one.kind !== 'project_deletion' &&
        (kind === 'import' || one.kind === 'import'),
    )
}

async function runOperation(
  options: RunnerOptions,
  operation: StoredOperation,
  stop: AbortSignal,
): Promise<void> {
  const { cluster, now, logger } = options
  const { writer } = cluster.home.store
  let current = operation
  const record = async (changes: Partial<StoredOperation>): Promise<void> => {
    current = await recordState(writer, current, changes)
  }
  if (operation.state !== 'running') await record({ state: 'running' })
  const ending = await work(options, operation, { stop, record })
  if (ending === undefined) return
  const { id, state, error } = { ...operation, ...ending }
  if (state === 'failed') logger.warn({ operation: id, reason: error }, 'an operation failed')
  await record({ ...ending, endedAt: now() })
  if (operation.request?.kind === 'import') await dropUpload(writer, operation.request.upload)
}

/** Does what an operation asks for; undefined if it was stopped before its end. */
function work(
  options: RunnerOptions,
  operation: StoredOperation,
  run: Pick<ImportRun, 'stop' | 'record'>,
): Promise<Ending | undefined> {
  const { cluster, getContext } = options
  const { request, projectId } = operation
  switch (request?.kind) {
    case 'import': {
      const getLoader = (name: string): LoaderContext => getContext(requireShard(cluster, name))
      return runImport(operation, request, { ...run, cluster, getLoader })
    }
    case 'project_deletion':
      return endDeletion(deleteWholeProject(options, projectId, request, run))
    case 'user_deletion':
      return endDeletion(deleteSomeUsers(options, projectId, request, run))
    case undefined:
      return Promise.resolve({ ...FAILED, error: 'the operation has no request' })
  }
}

const FAILED = { state: 'failed', result: null, request: null } as const

async function endDeletion(deletion: Promise<DeletionResult>): Promise<Ending> {
  try {
    return { state: 'done', result: await deletion, error: null, request: null }
  } catch (error) {
    // Any other error is the store's: the operation is tried again.
    if (!(error instanceof UserError)) throw error
    return { ...FAILED, error: error.message }
  }
}

function requireShard(cluster: Cluster, name: string): Shard {
  const shard = findShard(cluster, name)
  if (shard === undefined) throw new TypeError(`there is no shard ${name}`)
  return shard
}

async function deleteWholeProject(
  { cluster, getContext, waitMs }: RunnerOptions,
  projectId: string,
  request: ProjectDeletionRequest,
  { record }: Pick<ImportRun, 'record'>,
): Promise<DeletionResult> {
  const project = await findProject(cluster.home.store.writer, projectId)
  // A process that was killed may have deleted it.
  if (project === undefined) return request.found ?? NOTHING
  const found = request.found ?? (await findHoldings(locate(cluster, project), projectId))
  if (request.found === undefined) await record({ request: { ...request, found } })
  const deleted = await deleteProjectFromShards(cluster, projectId, getContext, waitMs)
  // What was found may be more, as an interrupted run has deleted it; or less, as events were waiting.
  return {
    events: Math.max(found.events, deleted.events),
    users: Math.max(found.users, deleted.users),
    unknownUserIds: [],
  }
}

const NOTHING: DeletionResult = { events: 0, users: 0, unknownUserIds: [] }

async function findHoldings(shards: readonly Shard[], projectId: string): Promise<DeletionResult> {
  const parts = await Promise.all(
    shards.map(({ store }) => readProjectHoldings(store.writer, projectId)),
  )
  const { events, users } = sumProjectHoldings(parts)
  return { events, users, unknownUserIds: [] }
}

async function deleteSomeUsers(
  { cluster, getContext }: RunnerOptions,
  projectId: string,
  request: UserDeletionRequest,
  { record }: Pick<ImportRun, 'record'>,
): Promise<DeletionResult> {
  const project = await requireProject(cluster.home.store.writer, projectId)
  const shards = locateInOrder(cluster, project).map((shard) => ({
    ...shard,
    loader: getContext(shard),
  }))
  const { events, users, unknownUserIds } = await deleteUsersFromShards(
    shards,
    projectId,
    request.userIds,
    {
      check: createResidenceCheck(cluster, project),
      recordFound: (found) => record({ request: { ...request, found } }),
    },
    request.found,
  )
  return { events, users, unknownUserIds }
}
