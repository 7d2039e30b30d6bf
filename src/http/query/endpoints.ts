/**
 * The endpoints of the query API apart from HTTP: those of the operations, their explanations, and the project. Routes, batches, tools
 * and early refusals go through the list.
 */
import type { GivenResponse } from '../../analytics/cache/responses.js'
import { explainOperation } from '../../analytics/explain-operation.js'
import { isAnswered, OPERATIONS } from '../../analytics/operations/list.js'
import type {
  AnsweredOperation,
  AnyOperation,
  Explained,
  StreamDependencies,
  Streamed,
  StreamedOperation,
  StreamRows,
  ValidBody,
} from '../../analytics/operation.js'
import { namesDefinitions, resolveDefinitions } from '../../analytics/definitions.js'
import { runOperation } from '../../analytics/run-operation.js'
import type { Scope } from '../../contract/scopes.js'
import { presentProject } from '../../projects/present.js'
import type { ReaderPace } from '../formats/reader-pace.js'
import { startTurn, type RequestContext, type RunningRequest } from './context.js'
import { logPlan } from './plan-log.js'
import type { QueryApi } from './query-api.js'

/** A response: kept, or a body that is computed for each request. */
export type Outcome = GivenResponse | { readonly body: object }

export interface Endpoint {
  /** The name by which batches and tools call it. */
  readonly name: string
  readonly method: 'get' | 'post'
  /** The path of the contract. */
  readonly path: string
  readonly scope: Scope
  /** The operation by which bodies are checked; undefined for an endpoint without a body. */
  readonly operation?: AnyOperation
  /** Answers a validated body in its turn; absent: all responses are streamed. */
  readonly answer?: (api: QueryApi, body: ValidBody, context: RequestContext) => Promise<Outcome>
}

/** Reads the project of the API key. */
export const PROJECT: Endpoint = {
  name: 'project',
  method: 'get',
  path: '/v1/project',
  scope: 'read',
  answer: (api, _body, context) =>
    api.queue.run(context.principal.keyId, context.signal, (turn) => {
      const { project } = context
      return readData(api, startTurn(context, turn), async ({ firstEventAt }) => ({
        body: { project: presentProject(project, await firstEventAt(project.id)) },
      }))
    }),
}

export const ENDPOINTS: readonly Endpoint[] = [PROJECT, ...OPERATIONS.flatMap(listEndpoints)]

/** Lists the endpoints of an operation: its own, and that of its explanation. */
function listEndpoints(operation: AnyOperation): readonly Endpoint[] {
  const { name, path, scope } = operation
  const own = { name, method: 'post', path, scope, operation } as const
  if (!isAnswered(operation)) return [own]
  const { explained } = operation
  return [
    { ...own, answer: (api, body, context) => answerKept(api, operation, body, context) },
    ...(explained === undefined
      ? []
      : [
          {
            ...own,
            ...{ name: explained.name, path: explained.path },
            answer: (api: QueryApi, body: ValidBody, context: RequestContext) =>
              answerExplained(api, operation, explained, body, context),
          },
        ]),
  ]
}

/** Looks up the goals and segments that a request names. What it is answered with does not change any more. */
const lookUp = async (
  api: QueryApi,
  operation: AnyOperation,
  request: ValidBody,
  { project }: RequestContext,
): Promise<ValidBody> =>
  namesDefinitions(request)
    ? (resolveDefinitions(operation, request, await api.readDefinitions(project.id)) as ValidBody)
    : request

/** Answers a request. Known rows need no turn. */
const answerKept = async (
  api: QueryApi,
  operation: AnsweredOperation,
  asked: ValidBody,
  context: RequestContext,
): Promise<GivenResponse> => {
  const { project, principal, signal, now } = context
  const request = await lookUp(api, operation, asked, context)
  const { keyId } = principal
  const given = await api.responses.answer(
    { operation, request, project, keyId, signal, now },
    ({ signal: whileWanted, facts }) =>
      api.queue.run(keyId, whileWanted, (turn) =>
        readData(api, startTurn({ ...context, signal: whileWanted }, turn), (data) =>
          runOperation(operation, request, project, {
            ...data,
            firstEventAt: async (id) => (facts.firstEventAt = await data.firstEventAt(id)),
          }),
        ),
      ),
  )
  api.countQuery(project.id)
  return given
}

const answerExplained = async (
  api: QueryApi,
  operation: AnsweredOperation,
  explained: Explained<unknown>,
  asked: ValidBody,
  context: RequestContext,
): Promise<Outcome> => {
  const request = await lookUp(api, operation, asked, context)
  return api.queue.run(context.principal.keyId, context.signal, async (turn) => {
    const explanation = await readData(api, startTurn(context, turn), (data) =>
      explainOperation(operation, explained, request, context.project, data),
    )
    return { body: api.presentExplanation(explanation) }
  })
}

/**
 * Streams the response to a request. Streams and exports have queues of their own, with places for each project. An export may last for
 * hours, so each of its statements reads at a moment of its own.
 */
export const streamOperation = async (
  api: QueryApi,
  operation: StreamedOperation,
  asked: ValidBody,
  context: RequestContext,
  send: (streamed: Streamed, pace: ReaderPace) => Promise<void>,
): Promise<void> => {
  const { project, principal, signal } = context
  const request = await lookUp(api, operation, asked, context)
  await api[operation.queue].run(principal.projectId, signal, (turn) => {
    const running = startTurn(context, turn)
    return readData(api, running, (data) =>
      operation.stream(
        request,
        project,
        operation.queue === 'exports' ? { ...data, stream: streamEach(api, running) } : data,
        (streamed) => send(streamed, turn.pace),
      ),
    )
  })
  api.countQuery(project.id)
}

/** Returns the function that streams each statement at a moment of its own. */
const streamEach =
  (api: QueryApi, request: RunningRequest): StreamRows =>
  (statement, consume) =>
    readData(api, request, ({ stream }) => stream(statement, consume))

/** Reads the data of the project of a request, and logs its plans. */
const readData = <Result>(
  api: QueryApi,
  request: RunningRequest,
  read: (data: StreamDependencies) => Promise<Result>,
): Promise<Result> =>
  api.readData(request.project, request, (data) =>
    read({ ...data, onPlan: (plan) => logPlan(request.logger, plan) }),
  )
