/** Runs operations beside the query without HTTP, on the shards of a project. */
import { FUNNEL } from '../../../src/analytics/operations/funnel.js'
import { JOURNEYS } from '../../../src/analytics/operations/journeys.js'
import { RETENTION } from '../../../src/analytics/operations/retention.js'
import type { Plan } from '../../../src/analytics/plan/plan.js'
import { createQueryRunner } from '../../../src/clickhouse/run.js'
import type { Statement } from '../../../src/clickhouse/sql.js'
import { locate, type Cluster } from '../../../src/cluster/cluster.js'
import { findEarliest, findStatementGroup, openReader } from '../../../src/cluster/shard-reads.js'
import type {
  FunnelRequest,
  FunnelResponse,
  JourneysRequest,
  JourneysResponse,
  RetentionRequest,
  RetentionResponse,
} from '../../../src/contract/api.js'
import type { MarkedRow } from '../../../src/model/origin.js'
import type { RelationName } from '../../../src/model/relations.js'
import { findFirstEventTime } from '../../../src/projects/event-times.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { answer, NOW } from '../world/world.js'

export interface Asking {
  readonly now?: Date
  readonly listRelations?: (() => readonly RelationName[]) | undefined
  readonly onPlan?: (plan: Plan) => void
}

/** Runs a request for retention. */
export const runRetention = (
  cluster: Cluster,
  project: StoredProject,
  request: RetentionRequest,
  asking: Asking = {},
): Promise<RetentionResponse> =>
  answer(RETENTION, request, project, createDependencies(cluster, project, asking))

/** Runs a request for a funnel. */
export const runFunnel = (
  cluster: Cluster,
  project: StoredProject,
  request: FunnelRequest,
  asking: Asking = {},
): Promise<FunnelResponse> =>
  answer(FUNNEL, request, project, createDependencies(cluster, project, asking))

/** Runs a request for journeys. */
export const runJourneys = (
  cluster: Cluster,
  project: StoredProject,
  request: JourneysRequest,
  asking: Asking = {},
): Promise<JourneysResponse> =>
  answer(JOURNEYS, request, project, createDependencies(cluster, project, asking))

function createDependencies(
  cluster: Cluster,
  project: StoredProject,
  { now = NOW, ...rest }: Asking,
) {
  const shards = locate(cluster, project)
  const runner = createQueryRunner({ ...shards[0].store, reader: openReader(shards) }, 30_000)
  return {
    group: findStatementGroup(cluster, project),
    run: <Row extends object>(statement: Statement) => runner<Row & MarkedRow>(statement),
    firstEventAt: (id: string) =>
      findEarliest(shards, ({ store }) => findFirstEventTime(store.reader, id)),
    now: () => now,
    ...rest,
  }
}
