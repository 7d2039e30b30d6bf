/** The operations of the query API apart from HTTP: each answers a validated body in its turn. */
import type { Answer } from '../../analytics/cache/answers.js'
import type { Plan } from '../../analytics/plan/plan.js'
import type {
  AnalyticsQueryRequest,
  Project,
  ValuesRequest,
  ValuesResponse,
} from '../../contract/api.js'
import { logPlan } from './plan-log.js'
import type { Turn } from './queue/query-queue.js'
import type { ApiUseCases, RequestScope } from './use-cases.js'
import type { OperationContext } from './operation-context.js'

/** Answers a query. A known answer needs no turn. */
export const answerQuery = (
  { answers, queue, runQuery }: ApiUseCases,
  body: AnalyticsQueryRequest,
  context: OperationContext,
): Promise<Answer> => {
  const { principal, project, logger, now } = context
  return answers.answer(
    { request: body, project, asker: principal.keyId, signal: context.signal, now },
    ({ signal, facts, onPlan }) =>
      queue.run(principal.keyId, signal, (turn) => {
        const notePlan = (plan: Plan): void => {
          logPlan(logger, plan)
          onPlan(plan)
        }
        return runQuery(body, project, createScope(context, turn, signal), notePlan, facts)
      }),
  )
}

/** Lists the values of a field. */
export const answerValues = (
  { listValues, queue }: ApiUseCases,
  body: ValuesRequest,
  context: OperationContext,
): Promise<ValuesResponse> =>
  queue.run(context.principal.keyId, context.signal, (turn) =>
    listValues(body, context.project, createScope(context, turn), (plan) =>
      logPlan(context.logger, plan),
    ),
  )

/** Reads the project of the API key. */
export const answerProject = (
  { readProject, queue }: ApiUseCases,
  context: OperationContext,
): Promise<{ readonly project: Project }> =>
  queue.run(context.principal.keyId, context.signal, async (turn) => ({
    project: await readProject(context.project, createScope(context, turn)),
  }))

const createScope = (
  { requestId, now, signal: ofContext }: OperationContext,
  { leftMs, isExtra }: Turn,
  signal = ofContext,
): RequestScope => ({ timeoutMs: leftMs, yieldsCpu: isExtra, signal, requestId, now })
