/** What the query API knows about the stores of a cluster, and of those that a project lives on. */
import { joinWatches } from '../../changes/join-watches.js'
import { watchChanges, type ChangeWatch } from '../../changes/watch-changes.js'
import type { Connection } from '../../clickhouse/connection.js'
import { withLowPriority } from '../../clickhouse/connection-wrappers.js'
import { createQueryRunner, createStreamRunner, type StreamQuery } from '../../clickhouse/run.js'
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

/** The data of a project, on one shard or several. */
interface ProjectData {
  /** The shards that its statements read; undefined if they read the one that runs them. */
  readonly group: StatementGroup | undefined
  /** Whether the rollups may be read: those of all its shards. */
  readonly areRollupsTrusted: () => boolean
  /** Its version is that of the data on all its shards. */
  readonly changes: ChangeWatch
  /** Reads how much data one of its shards has. */
  readonly readSizes: ReadSizes
  /** Creates the connection for the statements of a request. */
  readonly createReader: (request: RunningRequest) => Connection
  /** Creates the runner of statements whose rows are streamed to a request. */
  readonly createStreamer: (request: RunningRequest) => StreamQuery
  /** Finds the moment of the first event for a request; null if there is none. */
  readonly findFirstEvent: (request: RunningRequest) => Promise<Date | null>
  readonly hasEventsFrom: (moment: Date) => Promise<boolean>
}

/**
 * Finds the data of a project.
 *
 * @throws ApiError SERVICE_UNAVAILABLE if a shard of the project is not configured, or no group has its shards
 */
export type FindData = (project: Pick<StoredProject, 'id' | 'shards' | 'isWidening'>) => ProjectData

/** @param stores the stores of the cluster by the names of their shards */
export const createFindData =
  (cluster: Cluster, stores: ReadonlyMap<string, ReadStore>): FindData =>
  (project) => {
    const { id } = project
    const shards = locate(cluster, project)
    const [first, ...others] = shards.map(({ name }) => requireStore(stores, name))
    if (first === undefined) throw new TypeError('a project lives on a shard')
    const all = [first, ...others]
    return {
      group: findStatementGroup(cluster, project),
      areRollupsTrusted: () => all.every(({ rollups }) => rollups.isTrusted()),
      changes: joinWatches(
        project.shards,
        all.map(({ changes }) => changes),
      ),
      readSizes: (projectId) => readMeanSizes(all, ({ readSizes }) => readSizes(projectId)),
      createReader: (request) => createReader(first.store, openReader(shards), request),
      createStreamer: ({ timeoutMs, ...scope }) =>
        createStreamRunner({ ...first.store, reader: openReader(shards) }, timeoutMs, scope),
      findFirstEvent: (request) => findFirstEvent(shards, id, request),
      hasEventsFrom: (moment) =>
        isTrueOfAny(shards, ({ store }) => hasEventsFrom(store.lookups, id, moment)),
    }
  }

function requireStore(stores: ReadonlyMap<string, ReadStore>, name: string): ReadStore {
  const found = stores.get(name)
  if (found === undefined) throw new TypeError(`the store ${name} is not read`)
  return found
}

const findFirstEvent = (
  shards: ProjectShards,
  id: string,
  request: RunningRequest,
): Promise<Date | null> =>
  findEarliest(shards, ({ store }) =>
    findFirstEventTime(createReader(store, store.reader, request), id),
  )

/** Creates a connection to a store whose statements share the deadline of a request. */
function createReader(
  store: Store,
  connection: Connection,
  { timeoutMs, yieldsCpu, ...scope }: RunningRequest,
): Connection {
  const reader = yieldsCpu ? withLowPriority(connection) : connection
  return { ...reader, query: createQueryRunner({ ...store, reader }, timeoutMs, scope) }
}
