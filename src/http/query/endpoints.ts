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
  Streamed,
  StreamedOperation,
  StreamRows,
  ValidBody,
} from '../../analytics/operation.js'
import { namesDefinitions, resolveDefinitions } from '../../analytics/definitions.js'
import { prepare, runPlanned } from '../../analytics/run-operation.js'
import type { Scope } from '../../contract/scopes.js'
import { presentProject } from '../../projects/present.js'
import type { ReaderPace } from '../formats/reader-pace.js'
import { startTurn, type RequestContext, type RunningRequest } from './context.js'
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
  readonly answer?: Answer
}

type Answer = (api: QueryApi, body: ValidBody, context: RequestContext) => Promise<Outcome>

/** Reads the project of the API key. */
export const PROJECT: Endpoint = {
  name: 'project',
  method: 'get',
  path: '/v1/project',
  scope: 'read',
  answer: (api, _body, context) =>
    api.queue.run(context.principal.keyId, context.signal, (turn) => {
      const { project } = context
      return api.readData(project, startTurn(context, turn), async ({ firstEventAt }) => ({
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
    { ...own, answer: answerKept(operation) },
    ...(explained === undefined
      ? []
      : [
          {
            ...own,
            ...{ name: explained.name, path: explained.path },
            answer: answerExplained(operation, explained),
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

/** Answers requests to an operation. Known rows need no turn. */
function answerKept(operation: AnsweredOperation): Answer {
  return async (api, asked, context) => {
    const { project, principal, signal, now } = context
    const request = await lookUp(api, operation, asked, context)
    const { keyId } = principal
    const given = await api.responses.answer(
      { operation, request, project, keyId, signal, now },
      ({ signal: whileWanted, facts }) =>
        api.queue.run(keyId, whileWanted, (turn) => {
          const running = startTurn({ ...context, signal: whileWanted }, turn)
          return api.readData(project, running, async (data) => {
            const prepared = await prepare(operation, request, project, {
              ...data,
              firstEventAt: async (id) => (facts.firstEventAt = await data.firstEventAt(id)),
            })
            return runPlanned(operation, request, project, prepared, data)
          })
        }),
    )
    api.countQuery(project.id, given.source)
    return given
  }
}

function answerExplained(operation: AnsweredOperation, explained: Explained<unknown>): Answer {
  return async (api, asked, context) => {
    const { project, principal, signal } = context
    const request = await lookUp(api, operation, asked, context)
    return api.queue.run(principal.keyId, signal, async (turn) => {
      const explanation = await api.readData(project, startTurn(context, turn), (data) =>
        explainOperation(operation, explained, request, project, data),
      )
      return { body: api.presentExplanation(explanation) }
    })
  }
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
    return api.readData(project, running, (data) =>
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
    api.readData(request.project, request, ({ stream }) => stream(statement, consume))
