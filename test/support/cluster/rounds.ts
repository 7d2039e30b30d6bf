/** Answers queries in rounds, whatever the planner would choose. */
import { listPlans, planQuery, planWithOthers } from '../../../src/analytics/plan/planner.js'
import type { Plan } from '../../../src/analytics/plan/plan.js'
import { QUERY, resolveRequest } from '../../../src/analytics/operations/query.js'
import { buildResponse } from '../../../src/analytics/run-operation.js'
import { shapeRows, type ResponseRows } from '../../../src/analytics/response.js'
import { runPlan } from '../../../src/analytics/rounds.js'
import { createQueryRunner } from '../../../src/clickhouse/run.js'
import type { Statement } from '../../../src/clickhouse/sql.js'
import type { Cluster } from '../../../src/cluster/cluster.js'
import { locate } from '../../../src/cluster/cluster.js'
import { findEarliest, findStatementGroup, openReader } from '../../../src/cluster/shard-reads.js'
import type { AnalyticsQueryResponse } from '../../../src/contract/api.js'
import { ALL_RELATIONS } from '../../../src/model/relations.js'
import { findFirstEventTime } from '../../../src/projects/event-times.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { fillDefaults, NOW, type PartialRequest } from '../world/world.js'

export interface RoundsAnswer {
  readonly body: AnalyticsQueryResponse
  /** How many rows each statement returned. */
  readonly rounds: readonly number[]
}

/** Is called before each statement of an answer, with the number of those before. */
export type BeforeRound = (number: number) => Promise<void>

/** Answers a query by each of its plans that count users last, in turn. A query may have none. */
export async function answerInRounds(
  cluster: Cluster,
  project: StoredProject,
  asked: PartialRequest,
  beforeRound: BeforeRound = () => Promise.resolve(),
): Promise<readonly RoundsAnswer[]> {
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
  const answers: RoundsAnswer[] = []
  for (const plan of plans.filter(({ userCounting }) => userCounting.kind !== 'all')) {
    const answer = await run(cluster, project, plan, beforeRound)
    const rows = shapeRows(query, answer)
    const body = buildResponse(QUERY, request, { resolved: query, rows })
    answers.push({ body, rounds: answer.rounds })
  }
  return answers
}

async function run(
  cluster: Cluster,
  project: StoredProject,
  plan: Plan,
  beforeRound: BeforeRound,
): Promise<ResponseRows & Pick<RoundsAnswer, 'rounds'>> {
  const shards = locate(cluster, project)
  const runner = createQueryRunner({ ...shards[0].store, reader: openReader(shards) }, 60_000)
  const rounds: number[] = []
  const answer = await runPlan(
    plan,
    'nonce',
    findStatementGroup(cluster, project),
    async <Row extends object>(statement: Statement) => {
      await beforeRound(rounds.length)
      const result = await runner<Row>(statement)
      rounds.push(result.rows.length)
      return result
    },
  )
  return { ...answer, rounds }
}
