/** Creates the use cases of the query API over the stores of a cluster. */
import { createAnswers, type Answers } from '../../analytics/cache/answers.js'
import { queryAnalytics } from '../../analytics/query-analytics.js'
import { createAuthenticator } from '../../auth/authenticate.js'
import { openKeyring } from '../../auth/keyring.js'
import { watchChanges, type ChangeWatch } from '../../changes/watch-changes.js'
import type { Connection } from '../../clickhouse/connection.js'
import { withLowPriority } from '../../clickhouse/connection-wrappers.js'
import { createQueryRunner } from '../../clickhouse/run.js'
import type { Store } from '../../clickhouse/store.js'
import { locate, type Cluster } from '../../cluster/cluster.js'
import type { ReadProject, RequestScope, RunQuery } from '../../http/query/api-handlers.js'
import { createQueryQueue } from '../../http/query/query-queue.js'
import { ALL_RELATIONS, FACTS } from '../../model/relations.js'
import { findFirstEventTime, hasEventsFrom } from '../../projects/event-times.js'
import { createSizesReader, type ReadSizes } from '../../projects/project-sizes.js'
import { presentProject } from '../../projects/present.js'
import type { StoredProject } from '../../projects/project.js'
import { countChecks } from './count-checks.js'
import type { RollupTrust } from './rollup-trust.js'
import type { ApiDependencies } from './app.js'
import type { ServiceOptions } from './service-options.js'

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

/** Returns the store in which a project lives. */
type FindStore = (project: Pick<StoredProject, 'id' | 'shards'>) => ReadStore

/** Creates the use cases of the query API. Every query has a deadline and ends when its client disconnects. */
export function createApi(
  options: ServiceOptions,
  stores: ReadonlyMap<string, ReadStore>,
): ApiDependencies {
  const { cluster, config, now, instruments } = options
  const findStore = createFindStore(cluster, stores)
  const authenticator = createAuthenticator({
    store: { reader: cluster.home.store.lookups },
    keyring: openKeyring(cluster.home.store.lookups, now),
    now,
  })
  const queue = createQueryQueue({
    perKey: config.queriesPerKey,
    inAll: config.queries,
    waiting: MAX_WAITING,
    timeoutMs: config.queryTimeoutMs,
  })
  instruments?.http.watchQueries(() => queue.count())
  const runQuery: RunQuery = (request, project, scope, onPlan, facts) => {
    const { store, rollups, readSizes } = findStore(project)
    const reader = createReader(store, scope)
    return queryAnalytics(request, project, {
      run: (statement) => reader.query(statement),
      firstEventAt: async (id) => (facts.firstEventAt = await findFirstEventTime(reader, id)),
      now,
      onPlan,
      listRelations: () => (rollups.isTrusted() ? ALL_RELATIONS : FACTS),
      readSizes,
    })
  }
  const readProject: ReadProject = async (project, scope) => {
    const reader = createReader(findStore(project).store, scope)
    return presentProject(project, await findFirstEventTime(reader, project.id))
  }
  return {
    authenticate: countChecks(
      authenticator.authenticate,
      'key',
      instruments?.store(cluster.home.name),
    ),
    recall: authenticator.recall,
    runQuery,
    answers: openAnswers(options, findStore),
    readProject,
    queue,
    rateLimit: config.rateLimit,
  }
}

const createFindStore =
  (cluster: Cluster, stores: ReadonlyMap<string, ReadStore>): FindStore =>
  (project) => {
    const [{ name }] = locate(cluster, project)
    const found = stores.get(name)
    if (found === undefined) throw new TypeError(`the store ${name} is not read`)
    return found
  }

function createReader(store: Store, { timeoutMs, yieldsCpu, ...scope }: RequestScope): Connection {
  const reader = yieldsCpu ? withLowPriority(store.reader) : store.reader
  return { ...reader, query: createQueryRunner({ ...store, reader }, timeoutMs, scope) }
}

/** Creates the answers that are given again, over the connection for lookups: slow queries cannot block it. */
function openAnswers(options: ServiceOptions, findStore: FindStore): Answers {
  const { config, now, instruments } = options
  const answers = createAnswers({
    maxBytes: config.cacheMb * 1_000_000,
    readVersion: (project) => findStore(project).changes.readVersion(project.id),
    getLastVersion: (project) => findStore(project).changes.getLastVersion(project.id),
    isCurrent: (project, version) => findStore(project).changes.isCurrent(project.id, version),
    hasEventsFrom: (project, moment) =>
      hasEventsFrom(findStore(project).store.lookups, project.id, moment),
    readsRollups: (project) => findStore(project).rollups.isTrusted(),
    now,
    onAnswer: instruments?.http.onAnswer,
  })
  instruments?.http.watchAnswers(answers.countBytes)
  return answers
}

/** How many queries wait at once. Each keeps a body of up to 64 kB in memory. */
const MAX_WAITING = 256
