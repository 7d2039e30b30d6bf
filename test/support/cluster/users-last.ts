/** Answers queries by plans that count users last, whatever the planner would choose. */
import { listPlans, planQuery, planWithOthers } from '../../../src/analytics/plan/planner.js'
import { QUERY, resolveRequest } from '../../../src/analytics/operations/query.js'
import { buildResponse } from '../../../src/analytics/run-operation.js'
import { shapeRows } from '../../../src/analytics/response.js'
import { runPlan } from '../../../src/analytics/run-plan.js'
import { createQueryRunner } from '../../../src/clickhouse/run.js'
import { locate, type Cluster } from '../../../src/cluster/cluster.js'
import { findEarliest, findStatementGroup, openReader } from '../../../src/cluster/shard-reads.js'
import type { AnalyticsQueryResponse } from '../../../src/contract/api.js'
import { ALL_RELATIONS } from '../../../src/model/relations.js'
import { findFirstEventTime } from '../../../src/projects/event-times.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { fillDefaults, NOW, type PartialRequest } from '../world/world.js'

/** Answers a query by each of its plans that count users last, in turn. A query may have none. */
export async function answerWithUsersLast(
  cluster: Cluster,
  project: StoredProject,
  asked: PartialRequest,
): Promise<readonly AnalyticsQueryResponse[]> {
  const request = fillDefaults(asked)
  const shards = locate(cluster, project)
  const first = await findEarliest(shards, ({ store }) =>
    findFirstEventTime(store.reader, project.id),
  )
  const query = resolveRequest(request, project, first, NOW)
  const others = planWithOthers(query, (one) => planQuery(one))
  const plans = [...listPlans(query, ALL_RELATIONS).values()].map((plan) => ({
    ...others,
    ...plan,
  }))
  const run = createQueryRunner({ ...shards[0].store, reader: openReader(shards) }, 60_000)
  const group = findStatementGroup(cluster, project)
  const answers: AnalyticsQueryResponse[] = []
  for (const plan of plans.filter(({ userCounting }) => userCounting.kind !== 'all')) {
    const rows = shapeRows(query, await runPlan(plan, 'nonce', group, run))
    answers.push(buildResponse(QUERY, request, { resolved: query, rows }))
  }
  return answers
}
