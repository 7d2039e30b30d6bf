/** Creates the use cases of the query API over the stores of a cluster. */
import { createAnswers, type Answers } from '../../analytics/cache/answers.js'
import { queryFunnel, type FunnelDependencies } from '../../analytics/funnel/query-funnel.js'
import { exportEvents } from '../../analytics/export/export-events.js'
import { explainFunnel } from '../../analytics/explain/explain-funnel.js'
import { explainQuery } from '../../analytics/explain/explain-query.js'
import { explainRetention } from '../../analytics/explain/explain-retention.js'
import { listValues } from '../../analytics/list-values.js'
import { queryAnalytics, type Dependencies } from '../../analytics/query-analytics.js'
import {
  queryRetention,
  type RetentionDependencies,
} from '../../analytics/retention/query-retention.js'
import type { Query } from '../../analytics/request/query.js'
import { streamAnalytics } from '../../analytics/stream-analytics.js'
import type { Plan } from '../../analytics/plan/plan.js'
import type { Statement } from '../../clickhouse/sql.js'
import { createAuthenticator } from '../../auth/authenticate.js'
import { openKeyring } from '../../auth/keyring.js'
import type {
  ExportEvents,
  Notes,
  ReadProject,
  RequestScope,
  StreamQuery,
} from '../../http/query/api-handlers.js'
import { LEAST_PACE } from '../../http/formats/reader-pace.js'
import { createQueryQueue, type PlaceLimits } from '../../http/query/queue/query-queue.js'
import { ALL_RELATIONS, FACTS } from '../../model/relations.js'
import { presentProject } from '../../projects/present.js'
import type { StoredProject } from '../../projects/project.js'
import { countChecks } from './count-checks.js'
import type { ApiDependencies } from './api-routes.js'
import { createFindData, type FindData, type ReadStore } from './read-stores.js'
import type { ServiceOptions } from './service-options.js'
import { createShares } from './shares.js'

/** Creates the use cases of the query API. Every query has a deadline and ends when its client disconnects. */
export function createApi(
  options: ServiceOptions,
  stores: ReadonlyMap<string, ReadStore>,
): ApiDependencies {
  const { cluster, config, now, instruments } = options
  const findData = createFindData(cluster, stores)
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
  const createDependencies = withData(findData, now)
  const readProject: ReadProject = async (project, scope) =>
    presentProject(project, await findData(project).findFirstEvent(scope))
  return {
    authenticate: countChecks(
      authenticator.authenticate,
      'key',
      instruments?.store(cluster.home.name),
    ),
    recall: authenticator.recall,
    ...createKeptOperations(createDependencies),
    streamQuery: createStreamQuery(createDependencies, findData),
    exportEvents: createExportEvents(findData, now),
    ...createOperations(createDependencies),
    answers: openAnswers(options, findData),
    readProject,
    queue,
    streams: createQueryQueue({ ...STREAMS, timeoutMs: config.queryTimeoutMs }),
    exports: createQueryQueue({ ...EXPORTS, timeoutMs: config.queryTimeoutMs }),
    now,
    rateLimit: config.rateLimit,
    shares: createShares(options),
  }
}

/** Creates the operations whose answers are not kept. */
const createOperations = (
  createDependencies: CreateDependencies,
): Pick<ApiDependencies, 'explainQuery' | 'explainRetention' | 'explainFunnel'> => ({
  explainQuery: (request, project, scope, onPlan) =>
    explainQuery(request, project, createDependencies(project, scope, onPlan)),
  explainRetention: (request, project, scope, onPlan) =>
    explainRetention(request, project, createDependencies(project, scope, onPlan)),
  explainFunnel: (request, project, scope, onPlan) =>
    explainFunnel(request, project, createDependencies(project, scope, onPlan)),
})

/** Creates the operations whose answers are kept. */
const createKeptOperations = (
  createDependencies: CreateDependencies,
): Pick<ApiDependencies, 'runQuery' | 'listValues' | 'queryRetention' | 'queryFunnel'> => {
  const createKeeping: CreateKeeping = (project, scope, onPlan, { facts, onResolve }) => {
    const dependencies = createDependencies(project, scope, (plan) => {
      onPlan(plan)
      onResolve(plan.query)
    })
    return {
      ...dependencies,
      firstEventAt: async (id) => (facts.firstEventAt = await dependencies.firstEventAt(id)),
    }
  }
  return {
    runQuery: (request, project, scope, onPlan, notes) =>
      queryAnalytics(request, project, createKeeping(project, scope, onPlan, notes)),
    listValues: (request, project, scope, onPlan, notes) =>
      listValues(request, project, createKeeping(project, scope, onPlan, notes)),
    queryRetention: (request, project, scope, onPlan, { facts, onResolve }) => {
      const dependencies = createKeeping(project, scope, onPlan, { facts, onResolve: ignore })
      return queryRetention(request, project, { ...dependencies, onResolve })
    },
    queryFunnel: (request, project, scope, onPlan, notes) =>
      queryFunnel(request, project, createKeeping(project, scope, onPlan, notes)),
  }
}

const ignore = (): void => undefined

/** Creates dependencies that note what is learnt: also what a request is resolved to, if that is the query of its plan. */
type CreateKeeping = (
  ...args: [...Parameters<CreateDependencies>, notes: Notes<Query>]
) => ReturnType<CreateDependencies>

const createStreamQuery =
  (createDependencies: CreateDependencies, findData: FindData): StreamQuery =>
  (request, project, scope, onPlan, consume) => {
    const dependencies = createDependencies(project, scope, onPlan)
    const stream = findData(project).createStreamer(scope)
    return streamAnalytics(request, project, { ...dependencies, stream }, consume)
  }

const createExportEvents =
  (findData: FindData, now: () => Date): ExportEvents =>
  (request, project, scope, consume) => {
    const { group, findFirstEvent, createStreamer } = findData(project)
    const dependencies = {
      group,
      firstEventAt: () => findFirstEvent(scope),
      now: () => scope.now ?? now(),
      stream: createStreamer(scope),
    }
    return exportEvents(request, project, dependencies, consume)
  }

type CreateDependencies = (
  project: StoredProject,
  scope: RequestScope,
  onPlan: (plan: Plan) => void,
) => Dependencies & RetentionDependencies & FunnelDependencies

/** Creates the function that finds what a query depends on. */
const withData =
  (findData: FindData, now: () => Date): CreateDependencies =>
  (project, scope, onPlan) => {
    const data = findData(project)
    const reader = data.createReader(scope)
    return {
      group: data.group,
      run: <Row>(statement: Statement) => reader.query<Row>(statement),
      firstEventAt: () => data.findFirstEvent(scope),
      now: () => scope.now ?? now(),
      onPlan,
      listRelations: () => (data.areRollupsTrusted() ? ALL_RELATIONS : FACTS),
      readSizes: data.readSizes,
    }
  }

/** Creates the answers that are given again, over the connection for lookups: slow queries cannot block it. */
function openAnswers(options: ServiceOptions, findData: FindData): Answers {
  const { config, now, instruments } = options
  const answers = createAnswers({
    maxBytes: config.cacheMb * 1_000_000,
    readVersion: (project) => findData(project).changes.readVersion(project.id),
    getLastVersion: (project) => findData(project).changes.getLastVersion(project.id),
    isCurrent: (project, version) => findData(project).changes.isCurrent(project.id, version),
    hasEventsFrom: (project, moment) => findData(project).hasEventsFrom(moment),
    readsRollups: (project) => findData(project).areRollupsTrusted(),
    now,
    onAnswer: instruments?.http.onAnswer,
  })
  instruments?.http.watchAnswers(answers.countBytes)
  return answers
}

/** How many queries wait at once. Each keeps a body of up to 64 kB in memory. */
const MAX_WAITING = 256

/** How many answers are streamed at once: of a project, and of all. Others wait for a place. */
export const STREAMS: PlaceLimits = {
  perKey: 2,
  inAll: 4,
  waiting: 64,
  owner: 'project',
  leastPace: LEAST_PACE,
}

/** How many exports run at once, in the same way. They may last for hours. */
export const EXPORTS: PlaceLimits = STREAMS
