/** What the query API knows about the stores of a cluster, and of those that a project lives on. */
import { joinWatches } from '../../changes/join-watches.js'
import {
  readAt,
  isSameMoment,
  joinMoments,
  readMoment,
  type Moment,
  type Moments,
} from '../../changes/moment.js'
import { watchChanges, type ChangeWatch, type VersionWatch } from '../../changes/watch-changes.js'
import type { Connection, Settings } from '../../clickhouse/connection.js'
import { withLowPriority } from '../../clickhouse/connection-wrappers.js'
import {
  createQueryRunner,
  createStreamRunner,
  GuardError,
  type StreamQuery,
} from '../../clickhouse/run.js'
import { toStoreError } from '../../clickhouse/errors.js'
import type { Store } from '../../clickhouse/store.js'
import { locate, type Cluster, type ProjectShards } from '../../cluster/cluster.js'
import {
  findEarliest,
  findStatementGroup,
  isTrueOfAny,
  openReader,
  readMeanSizes,
  type StatementGroup,
} from '../../cluster/shard-reads.js'
import type { RunningRequest } from '../../http/query/context.js'
import { findFirstEventTime, hasEventsFrom } from '../../projects/event-times.js'
import { createSizesReader, type ReadSizes } from '../../projects/project-sizes.js'
import type { StoredProject } from '../../projects/project.js'
import type { RollupTrust } from './rollup-trust.js'

/** A store, and what is known about its data. */
export interface ReadStore {
  readonly store: Store
  readonly rollups: RollupTrust
  readonly changes: ChangeWatch
  readonly readSizes: ReadSizes
}

/** Creates what reads a store. */
export const createReadStore = (
  store: Store,
  rollups: RollupTrust,
  now: () => Date,
): ReadStore => ({
  store,
  rollups,
  changes: watchChanges(store.lookups, now),
  readSizes: createSizesReader(store.lookups, now),
})

/** The moments of a project on its shards, in their order. */
export type ShardMoments = readonly Moment[]

/** The data of a project, on one shard or several. */
export interface ProjectData {
  /** The shards that its statements read; undefined if they read the one that runs them. */
  readonly group: StatementGroup | undefined
  /** Whether the rollups may be read: those of all its shards. */
  readonly areRollupsTrusted: () => boolean
  /** Whether rollups of pairs may be read of all its projects, on all its shards. */
  readonly arePaired: (at: ShardMoments) => boolean
  /** Its version is that of the data on all its shards. */
  readonly changes: VersionWatch
  /** Reads how much data one of its shards has. */
  readonly readSizes: ReadSizes
  /** The moments of its data at which a request may read. */
  readonly createMoments: (signal: AbortSignal) => Moments<ShardMoments>
  /** Whether a statement checks all that it reads. It does so on the shard that runs it, unless that is quiet, and not on others. */
  readonly isGuarded: (at: ShardMoments) => boolean
  /**
   * Checks that nothing was published since the moments. Called after a statement that is not guarded.
   *
   * @throws GuardError
   */
  readonly requireStill: (at: ShardMoments, signal: AbortSignal) => Promise<void>
  /** Creates the connection for the statements of a request, which reject with a GuardError if their moment has passed. */
  readonly createReader: (request: RunningRequest, at: ShardMoments) => Connection
  /** Creates the runner of statements whose rows are streamed to a request, in the same way. */
  readonly createStreamer: (request: RunningRequest, at: ShardMoments) => StreamQuery
  /** Finds the time of the first event for a request, in the same way; null if there is none. */
  readonly findFirstEvent: (request: RunningRequest, at: ShardMoments) => Promise<Date | null>
  readonly hasEventsFrom: (moment: Date) => Promise<boolean>
}

/**
 * Finds the data of a project.
 *
 * @param ids it and others that live on the same shards, which statements read together; it alone if left out
 * @throws ApiError SERVICE_UNAVAILABLE if a shard of the project is not configured, or no group has its shards
 */
export type FindData = (
  project: Pick<StoredProject, 'id' | 'shards' | 'isWidening'>,
  ids?: readonly string[],
) => ProjectData

/** @param stores the stores of the cluster by the names of their shards */
export const createFindData =
  (cluster: Cluster, stores: ReadonlyMap<string, ReadStore>): FindData =>
  (project, ids = [project.id]) => {
    const { id } = project
    const shards = locate(cluster, project)
    const [first, ...others] = shards.map(({ name }) => requireStore(stores, name))
    if (first === undefined) throw new TypeError('a project lives on a shard')
    const all = [first, ...others]
    return {
      group: findStatementGroup(cluster, project),
      areRollupsTrusted: () => all.every(({ rollups }) => rollups.isTrusted()),
      arePaired: (at) => joinMoments(at).paired === new Set(ids).size,
      changes: joinWatches(
        project.shards,
        all.map(({ changes }) => changes),
      ),
      readSizes: (projectId) => readMeanSizes(all, ({ readSizes }) => readSizes(projectId)),
      createMoments: (signal) => createMoments(ids, all, signal),
      isGuarded: ([moment]) => others.length === 0 && moment?.isQuiet === false,
      requireStill: async (at, signal) => {
        if (at.every((one, i) => all[i]?.changes.isCurrentMoment(ids, one) === true)) return
        const now = await createMoments(ids, all, signal).read()
        if (at.some((one, i) => !isSameMoment(one, now?.[i]))) {
          throw new GuardError('a change was published')
        }
      },
      createReader: (request, moments) =>
        createReader(
          first.store,
          openReader(shards),
          request,
          readAt(ids, joinMoments(moments), first.store.database),
        ),
      createStreamer: ({ timeoutMs, signal, requestId }, moments) =>
        createStreamRunner({ ...first.store, reader: openReader(shards) }, timeoutMs, {
          ...{ signal, requestId },
          settings: readAt(ids, joinMoments(moments), first.store.database),
        }),
      findFirstEvent: (request, at) => findFirstEvent(shards, id, request, joinMoments(at)),
      hasEventsFrom: (moment) =>
        isTrueOfAny(shards, ({ store }) => hasEventsFrom(store.lookups, id, moment)),
    }
  }

function requireStore(stores: ReadonlyMap<string, ReadStore>, name: string): ReadStore {
  const found = stores.get(name)
  if (found === undefined) throw new TypeError(`the store ${name} is not read`)
  return found
}

/** @param signal ends the statements @throws ApiError what a query would reject with */
const createMoments = (
  ids: readonly string[],
  stores: readonly ReadStore[],
  signal: AbortSignal,
): Moments<ShardMoments> => ({
  getLast: () => requireAll(stores.map(({ changes }) => changes.getLastMoment(ids))),
  read: async () => {
    const reads = stores.map(({ store }) => readMoment(store.lookups, ids, signal))
    return requireAll(
      await Promise.all(reads).catch((error: unknown) => {
        throw toStoreError(error)
      }),
    )
  },
})

/** Returns the moments; undefined if one is missing. */
function requireAll(moments: readonly (Moment | undefined)[]): ShardMoments | undefined {
  const known = moments.filter((moment) => moment !== undefined)
  return known.length < moments.length ? undefined : known
}

const findFirstEvent = (
  shards: ProjectShards,
  id: string,
  request: RunningRequest,
  at: Moment,
): Promise<Date | null> =>
  findEarliest(shards, ({ store }) =>
    findFirstEventTime(
      createReader(store, store.reader, request, readAt([id], at, store.database)),
      id,
    ),
  )

/** Creates a connection to a store whose statements share the deadline of a request. @param settings of each statement */
function createReader(
  store: Store,
  connection: Connection,
  { timeoutMs, yieldsCpu, signal, requestId }: RunningRequest,
  settings: Settings,
): Connection {
  const reader = yieldsCpu ? withLowPriority(connection) : connection
  const scope = { signal, requestId, settings }
  return { ...reader, query: createQueryRunner({ ...store, reader }, timeoutMs, scope) }
}
