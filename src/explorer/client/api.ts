/** Asks the API. */
import type { BatchAnswer, BatchBody, BatchResult, Project, Question } from './contract.js'
import type { Access } from './access.js'
import { ApiFailure, describeFailure, isErrorAnswer } from './failure.js'

/** What the page asks of the API. A refusal or a missing answer rejects with an `ApiFailure`. */
export interface Api {
  /** Asks all questions in one request. @returns the results in the order of the questions */
  readonly ask: (
    questions: readonly Question[],
    signal: AbortSignal,
  ) => Promise<readonly BatchResult[]>
  /** The project of the key. */
  readonly readProject: () => Promise<Project>
}

/** Connects to the API. */
export function connectApi({ base, key }: Access): Api {
  const send = async (path: string, init: RequestInit = {}): Promise<unknown> =>
    readBody(
      await fetch(base + path, {
        ...init,
        headers: {
          'Content-Type': 'application/json',
          ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
        },
        credentials: 'omit',
      }).catch(throwFailure),
    )
  return {
    ask: async (questions, signal) => {
      const queries = questions.map(({ id, operation, body }) => ({ id, operation, body }))
      const body: BatchBody = { queries }
      const init = { method: 'POST', body: JSON.stringify(body), signal }
      return ((await send('/v1/analytics/batch', init)) as BatchAnswer).results
    },
    readProject: async () => ((await send('/v1/project')) as { project: Project }).project,
  }
}

/** Returns the body of a response. @throws ApiFailure if it is an error, or breaks off */
async function readBody(response: Response): Promise<unknown> {
  const body: unknown = await response.json().catch(throwFailure)
  if (response.ok) return body
  const after = response.headers.get('Retry-After')
  throw new ApiFailure(
    describeFailure({
      status: response.status,
      error: isErrorAnswer(body) ? body : undefined,
      retryAfter: after === null ? undefined : Number(after),
    }),
  )
}

/** Turns an answer that does not come into a failure, and passes on that nobody waits for it any more. */
function throwFailure(error: unknown): never {
  if (error instanceof DOMException && error.name === 'AbortError') throw error
  throw new ApiFailure(describeFailure(undefined))
}
