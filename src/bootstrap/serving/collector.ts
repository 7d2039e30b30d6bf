/** Creates the use cases of the collector over the stores of a cluster. */
import type { Store } from '../../clickhouse/store.js'
import { locate, type Shard } from '../../cluster/cluster.js'
import type { Config } from '../../config/config.js'
import { createStoppingError } from '../../http/server/graceful-shutdown.js'
import {
  createCheckWork,
  createCollect,
  type CollectingProject,
  type Entrance,
  type Entrances,
} from '../../ingest/collect/collect.js'
import { createFindProject } from '../../ingest/collect/find-project.js'
import { createWaitingWork, type InboxView } from '../../ingest/collect/waiting-work.js'
import type { DiskWatch } from '../../ingest/inbox/disk-space.js'
import { createInboxWriter } from '../../ingest/inbox/inbox-writer.js'
import { countChecks } from './count-checks.js'
import type { CollectorDependencies } from './app.js'
import type { ServiceOptions } from './service-options.js'

/** A store that takes events. */
export interface CollectStore {
  readonly store: Store
  readonly disk: DiskWatch
  /** What the loader of this process last saw of the stream; undefined to let any amount of events wait. */
  readonly readInbox: (() => InboxView) | undefined
}

/**
 * Creates the use cases of the collector. Writes still pending when the shutdown grace period ends are rejected
 * with SERVICE_UNAVAILABLE.
 */
export function createCollector(
  { cluster, config, now, instruments, onStored }: ServiceOptions,
  stores: ReadonlyMap<string, CollectStore>,
  stopping: AbortSignal,
): CollectorDependencies {
  const entrances = new Map<string, Entrance>()
  for (const [name, one] of stores) {
    entrances.set(
      name,
      openEntrance(one, config, stopping, () => onStored?.(name)),
    )
  }
  const findEntrances = (project: CollectingProject): Entrances => {
    const [first, ...others] = locate(cluster, project)
    const find = ({ name }: Shard): Entrance => requireEntrance(entrances, name)
    return [find(first), ...others.map(find)]
  }
  const findProject = createFindProject(cluster.home.store.tokenLookups)
  return {
    findProject: countChecks(findProject, 'token', instruments?.store(cluster.home.name)),
    collect: createCollect(findEntrances),
    checkWork: createCheckWork(findEntrances),
    now,
    maxEventAgeDays: config.maxEventAgeDays,
    limits: config.eventLimits,
    scriptName: config.scriptName,
  }
}

function openEntrance(
  { store, disk, readInbox }: CollectStore,
  { maxWaitingValues }: Config,
  stopping: AbortSignal,
  onStored: () => void,
): Entrance {
  const { write, rejectPending } = createInboxWriter(store.writer, {
    listWriters: store.listWriters,
  })
  stopping.addEventListener('abort', () => rejectPending(createStoppingError()), { once: true })
  const waiting =
    readInbox === undefined || maxWaitingValues === 0
      ? undefined
      : createWaitingWork(maxWaitingValues, readInbox)
  return {
    write: (lines) => write(lines).then(onStored),
    requireSpace: disk.requireSpace,
    waiting,
  }
}

function requireEntrance(entrances: ReadonlyMap<string, Entrance>, name: string): Entrance {
  const entrance = entrances.get(name)
  if (entrance === undefined) throw new TypeError(`the store ${name} takes no events`)
  return entrance
}
