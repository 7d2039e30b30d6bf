/** The operations of the query API apart from HTTP: each answers a validated body in its turn. */
import type { Answer, AnswerQuestion } from '../../analytics/cache/answers.js'
import type { ExportedEvents } from '../../analytics/export/export-events.js'
import type { StreamedAnswer } from '../../analytics/stream-analytics.js'
import type { Plan } from '../../analytics/plan/plan.js'
import type {
  AnalyticsQueryRequest,
  AnalyticsQueryResponse,
  ExportRequest,
  FunnelExplainResponse,
  FunnelRequest,
  FunnelResponse,
  ExplainResponse,
  Project,
  RetentionExplainResponse,
  RetentionRequest,
  RetentionResponse,
  StreamedQueryRequest,
  ValuesRequest,
  ValuesResponse,
} from '../../contract/api.js'
import type { ReaderPace } from '../formats/reader-pace.js'
import { logPlan } from './plan-log.js'
import type { QueryQueue, Turn } from './queue/query-queue.js'
import type { ApiUseCases, RequestScope, RunKept, RunOperation } from './use-cases.js'
import type { OperationContext } from './operation-context.js'

/** Runs an operation whose answers are kept. A known answer needs no turn. */
const answerKept = <Body, Resolved, Result>(
  answer: AnswerQuestion<Body, Resolved, Result>,
  run: RunKept<Body, Resolved, Result>,
  queue: QueryQueue,
  body: Body,
  context: OperationContext,
): Promise<Answer<Result>> => {
  const { principal, project, logger, now } = context
  return answer(
    { request: body, project, asker: principal.keyId, signal: context.signal, now },
    ({ signal, ...notes }) =>
      queue.run(principal.keyId, signal, (turn) => {
        const scope = createScope(context, turn, signal)
        return run(body, project, scope, (plan) => logPlan(logger, plan), notes)
      }),
  )
}

/** Answers a query. */
export const answerQuery = (
  { answers, queue, runQuery }: ApiUseCases,
  body: AnalyticsQueryRequest,
  context: OperationContext,
): Promise<Answer<AnalyticsQueryResponse>> =>
  answerKept(answers.query, runQuery, queue, body, context)

/** Lists the values of a field. */
export const answerValues = (
  { answers, queue, listValues }: ApiUseCases,
  body: ValuesRequest,
  context: OperationContext,
): Promise<Answer<ValuesResponse>> => answerKept(answers.values, listValues, queue, body, context)

/** Counts the users who come back. */
export const answerRetention = (
  { answers, queue, queryRetention }: ApiUseCases,
  body: RetentionRequest,
  context: OperationContext,
): Promise<Answer<RetentionResponse>> =>
  answerKept(answers.retention, queryRetention, queue, body, context)

/** Counts the users who go through some steps. */
export const answerFunnel = (
  { answers, queue, queryFunnel }: ApiUseCases,
  body: FunnelRequest,
  context: OperationContext,
): Promise<Answer<FunnelResponse>> => answerKept(answers.funnel, queryFunnel, queue, body, context)

/** Answers a query row by row. The answer is not kept, and streams have a queue of their own, with places for each project. */
export const streamAnswer = (
  { streams, streamQuery }: ApiUseCases,
  body: StreamedQueryRequest,
  context: OperationContext,
  consume: (answer: StreamedAnswer, pace: ReaderPace) => Promise<void>,
): Promise<void> =>
  streams.run(context.principal.projectId, context.signal, (turn) => {
    const notePlan = (plan: Plan): void => logPlan(context.logger, plan)
    const scope = createScope(context, turn)
    return streamQuery(body, context.project, scope, notePlan, (answer) =>
      consume(answer, turn.pace),
    )
  })

/** Exports events one after the other. Exports have a queue of their own, with places for each project. */
export const answerExport = (
  { exports: queue, exportEvents }: ApiUseCases,
  body: ExportRequest,
  context: OperationContext,
  consume: (events: ExportedEvents, pace: ReaderPace) => Promise<void>,
): Promise<void> =>
  queue.run(context.principal.projectId, context.signal, (turn) =>
    exportEvents(body, context.project, createScope(context, turn), (events) =>
      consume(events, turn.pace),
    ),
  )

/** Runs an operation whose answers are not kept. */
const answerAnew = <Body, Result>(
  run: RunOperation<Body, Result>,
  queue: QueryQueue,
  body: Body,
  context: OperationContext,
): Promise<Result> =>
  queue.run(context.principal.keyId, context.signal, (turn) =>
    run(body, context.project, createScope(context, turn), (plan) => logPlan(context.logger, plan)),
  )

/** Explains a query. */
export const answerExplain = (
  { explainQuery, queue }: ApiUseCases,
  body: AnalyticsQueryRequest,
  context: OperationContext,
): Promise<ExplainResponse> => answerAnew(explainQuery, queue, body, context)

/** Explains a request for retention. */
export const answerRetentionExplain = (
  { explainRetention, queue }: ApiUseCases,
  body: RetentionRequest,
  context: OperationContext,
): Promise<RetentionExplainResponse> => answerAnew(explainRetention, queue, body, context)

/** Explains a request for a funnel. */
export const answerFunnelExplain = (
  { explainFunnel, queue }: ApiUseCases,
  body: FunnelRequest,
  context: OperationContext,
): Promise<FunnelExplainResponse> => answerAnew(explainFunnel, queue, body, context)

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
