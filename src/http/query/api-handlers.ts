/** The first and last handlers of the query API: authenticate a request, run its use case and send the response. */
import type { Request, RequestHandler, Response } from 'express'
import type { ProjectFacts } from '../../analytics/cache/answer-name.js'
import type { Answer, Answers } from '../../analytics/cache/answers.js'
import type { Plan } from '../../analytics/plan/plan.js'
import type {
  AnalyticsQueryRequest,
  AnalyticsQueryResponse,
  Project,
  ValuesRequest,
  ValuesResponse,
} from '../../contract/api.js'
import type { StoredProject } from '../../projects/project.js'
import { abortOnDisconnect } from '../server/abort-on-disconnect.js'
import { createStoppingError } from '../server/graceful-shutdown.js'
import { getAuthContext, type AuthContext } from '../server/request-context.js'
import { logPlan } from './plan-log.js'
import { sendAnswer } from './send-answer.js'
import type { QueryQueue, Turn } from './query-queue.js'

/**
 * Finds the key and the project that an Authorization header identifies.
 *
 * @throws ApiError UNAUTHORIZED for a missing or invalid key, SERVICE_UNAVAILABLE if it cannot be checked
 */
export type Authenticate = (header: string | undefined) => Promise<AuthContext>

/** The request that a use case works for, and how long it may work. */
export interface RequestScope {
  /** Milliseconds from the call to the result. */
  readonly timeoutMs: number
  /** Whether the store works on it only with the CPU time that others leave. */
  readonly yieldsCpu: boolean
  /** Aborts when the response can no longer be delivered. */
  readonly signal: AbortSignal
  /** The id of the request: 8 to 64 letters, digits, `-` and `_`. */
  readonly requestId: string
}

/**
 * Runs a query on a project.
 *
 * @param onPlan is called with the plan before the query runs
 * @param facts takes what the query learns about the project's data
 */
export type RunQuery = (
  request: AnalyticsQueryRequest,
  project: StoredProject,
  scope: RequestScope,
  onPlan: (plan: Plan) => void,
  facts: ProjectFacts,
) => Promise<AnalyticsQueryResponse>

/** Lists the values of a field. @param onPlan is called with the plan before the query runs */
export type ListValues = (
  request: ValuesRequest,
  project: StoredProject,
  scope: RequestScope,
  onPlan: (plan: Plan) => void,
) => Promise<ValuesResponse>

/** Reads the public fields of a project. */
export type ReadProject = (project: StoredProject, scope: RequestScope) => Promise<Project>

/** Sets `request.authContext`. A request with several Authorization headers is treated as one without a key. */
export function authenticateRequests(authenticate: Authenticate): RequestHandler {
  return async (request, _response, next) => {
    const [header, ...others] = request.headersDistinct['authorization'] ?? []
    request.authContext = await authenticate(others.length === 0 ? header : undefined)
    next()
  }
}

/** POST /v1/analytics/query */
export function postAnalyticsQuery(
  {
    runQuery,
    queue,
    answers,
  }: {
    readonly runQuery: RunQuery
    readonly queue: QueryQueue
    readonly answers: Answers
  },
  stopping: AbortSignal,
): RequestHandler {
  return async (request, response) => {
    const { principal, project } = getAuthContext(request)
    const body = request.body as AnalyticsQueryRequest
    const send = (answer: Answer): void => sendAnswer(request, response, answer)
    await respond(response, stopping, send, (disconnected) =>
      // A known answer needs no turn.
      answers.answer(
        { request: body, project, asker: principal.keyId, signal: disconnected },
        ({ signal, facts, onPlan }) =>
          queue.run(principal.keyId, signal, (turn) => {
            const notePlan = (plan: Plan): void => {
              logPlan(request.log, plan)
              onPlan(plan)
            }
            return runQuery(body, project, createScope(request, turn, signal), notePlan, facts)
          }),
      ),
    )
  }
}

/** POST /v1/analytics/values */
export function postAnalyticsValues(
  { listValues, queue }: { readonly listValues: ListValues; readonly queue: QueryQueue },
  stopping: AbortSignal,
): RequestHandler {
  return async (request, response) => {
    const { principal, project } = getAuthContext(request)
    const body = request.body as ValuesRequest
    const send = (answer: object): void => void response.json(answer)
    await respond(response, stopping, send, (signal) =>
      queue.run(principal.keyId, signal, (turn) =>
        listValues(body, project, createScope(request, turn, signal), (plan) =>
          logPlan(request.log, plan),
        ),
      ),
    )
  }
}

/** GET /v1/project */
export function getProject(
  readProject: ReadProject,
  queue: QueryQueue,
  stopping: AbortSignal,
): RequestHandler {
  return async (request, response) => {
    const { principal, project } = getAuthContext(request)
    const send = (body: object): void => void response.json(body)
    await respond(response, stopping, send, (signal) =>
      queue.run(principal.keyId, signal, async (turn) => ({
        project: await readProject(project, createScope(request, turn, signal)),
      })),
    )
  }
}

const createScope = (
  { id }: Request,
  { leftMs, isExtra }: Turn,
  signal: AbortSignal,
): RequestScope => ({
  timeoutMs: leftMs,
  yieldsCpu: isExtra,
  signal,
  // The middleware of the log has set it to a text.
  requestId: id as string,
})

/** Sends the result of `work`. While the service is stopping, reports that instead of any error of `work`. */
async function respond<Result>(
  response: Response,
  stopping: AbortSignal,
  send: (result: Result) => void,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<void> {
  const signal = abortOnDisconnect(response, stopping)
  try {
    send(await work(signal))
  } catch (error) {
    throw stopping.aborted ? createStoppingError() : error
  }
}
