/** Asks the API. */
import type {
  GoalList,
  IssuedKey,
  ManagedProject,
  NewKey,
  NoteList,
  ProjectPage,
  SegmentList,
} from '../../contract/management-api.js'
import type { Access } from './access.js'
import type {
  BatchBody,
  BatchResult,
  Explanation,
  Project,
  ProjectQuery,
  Query,
} from './contract.js'
import { ApiFailure, BROKEN_OFF, describeFailure, isErrorResponse } from './failure.js'

/** What the page asks of the API. A refusal or a missing response rejects with an `ApiFailure`. */
export interface Api {
  /**
   * Asks all queries in one request, or in as few as the API takes. They leave at once.
   *
   * @returns the results as they come, several at a time, in any order
   */
  readonly ask: (
    queries: readonly Query[],
    signal: AbortSignal,
  ) => AsyncIterable<readonly BatchResult[]>
  /** The project of the key. */
  readonly readProject: () => Promise<Project>
  /** All that a project has of a kind: its notes, the earliest first, or its goals or segments by their names. */
  readonly readList: ReadList
  /** How a body would be answered. @param path of the operation that explains it */
  readonly explain: (path: string, body: object) => Promise<Explanation>
  /** Reads a table as CSV. One that breaks off is a failure, too. */
  readonly readTable: (table: { readonly path: string; readonly body: object }) => Promise<CsvTable>
  /** The projects that an admin key may see, by their ids: at most as many as one query takes. */
  readonly listProjects: () => Promise<readonly ManagedProject[]>
  /** Issues a key of a project. */
  readonly issueKey: (project: string, key: NewKey) => Promise<IssuedKey>
}

/** What a project has that the page reads, by the last part of its path. */
export type ProjectLists = Pick<NoteList, 'notes'> & GoalList & SegmentList
type ReadList = <Kind extends keyof ProjectLists>(
  project: string,
  kind: Kind,
) => Promise<ProjectLists[Kind]>

interface CsvTable {
  readonly content: Blob
  /** The header `Tally-Period`. */
  readonly period: string | null
}

/** How many queries a batch may have: `maxItems` of its `queries` in the contract. */
const MAX_QUERIES = 20

/** How many projects a query, and a page of them, may have in the contract. */
const MAX_PROJECTS = 1_000

/** Connects to the API. */
export function connectApi({ base, key }: Access): Api {
  const send = (path: string, init: RequestInit = {}, accept = '*/*'): Promise<Response> =>
    fetch(base + path, {
      ...init,
      headers: {
        Accept: accept,
        'Content-Type': 'application/json',
        ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
      },
      credentials: 'omit',
    }).catch(throwFailure)
  const askBatch = (queries: readonly ProjectQuery[], signal: AbortSignal) => {
    const sent = queries.map(({ id, operation, body }) => ({ id, operation, body }))
    const body: BatchBody = { queries: sent, include: { timing: true } }
    const init = { method: 'POST', body: JSON.stringify(body), signal }
    const response = send('/v1/analytics/batch', init, 'application/x-ndjson')
    // What reads the results learns of it.
    response.catch(() => undefined)
    return readResults(response, queries.length)
  }
  const post = async (path: string, body: object, signal: AbortSignal | null = null) =>
    readBody(await send(path, { method: 'POST', body: JSON.stringify(body), signal }))
  // Batches are about the project of a key, so a query about all projects is sent by itself.
  async function* askAlone({ id, body }: Query, signal: AbortSignal) {
    const response = await post('/v1/analytics/projects', body, signal)
    yield [{ id, status: 200, body: response } as BatchResult]
  }
  return {
    ask: (queries, signal) => {
      const isTogether = (query: Query): query is ProjectQuery => query.operation !== 'projects'
      const together = queries.filter(isTogether)
      const alone = queries.filter((query) => !isTogether(query))
      const asked: AsyncIterable<readonly BatchResult[]>[] = alone.map((query) =>
        askAlone(query, signal),
      )
      for (let i = 0; i < together.length; i += MAX_QUERIES)
        asked.push(askBatch(together.slice(i, i + MAX_QUERIES), signal))
      return readAll(asked)
    },
    readProject: async () =>
      ((await readBody(await send('/v1/project'))) as { project: Project }).project,
    readList: async (project, kind) => {
      const body = (await readBody(await send(`/v1/projects/${project}/${kind}`))) as ProjectLists
      return body[kind]
    },
    explain: async (path, body) => (await post(path, body)) as Explanation,
    readTable: async ({ path, body }) => {
      const init = { method: 'POST', body: JSON.stringify(body) }
      const response = await send(path, init, 'text/csv')
      if (!response.ok) await readBody(response)
      const content = await response.blob().catch(throwBrokenOff)
      return { content, period: response.headers.get('Tally-Period') }
    },
    listProjects: async () =>
      ((await readBody(await send(`/v1/projects?limit=${MAX_PROJECTS}`))) as ProjectPage).projects,
    issueKey: async (project, key) =>
      (await post(`/v1/projects/${project}/keys`, key)) as IssuedKey,
  }
}

/** Reads the results of one batch after the other. */
async function* readAll<Results>(
  batches: readonly AsyncIterable<Results>[],
): AsyncGenerator<Results> {
  for (const batch of batches) yield* batch
}

/** Reads the results of a batch. @throws ApiFailure if it is refused, or breaks off */
async function* readResults(
  asked: Promise<Response>,
  count: number,
): AsyncGenerator<readonly BatchResult[]> {
  const response = await asked
  if (!response.ok || response.body === null) {
    await readBody(response)
    return
  }
  let missing = count
  for await (const lines of readLines(response.body, throwBrokenOff)) {
    missing -= lines.length
    yield lines.map((line) => JSON.parse(line) as BatchResult)
  }
  if (missing > 0) throwBrokenOff(undefined)
}

/** Returns the body of a response. @throws ApiFailure if it is an error, or breaks off */
async function readBody(response: Response): Promise<unknown> {
  const body: unknown = await response.json().catch(response.ok ? throwBrokenOff : throwFailure)
  if (response.ok) return body
  const after = response.headers.get('Retry-After')
  throw new ApiFailure(
    describeFailure({
      status: response.status,
      error: isErrorResponse(body) ? body : undefined,
      retryAfter: after === null ? undefined : Number(after),
    }),
  )
}

/** Turns a response that does not come into a failure, and passes on that nobody waits for it any more. */
function throwFailure(error: unknown, failure = describeFailure(undefined)): never {
  if (error instanceof DOMException && error.name === 'AbortError') throw error
  throw new ApiFailure(failure)
}

const throwBrokenOff = (error: unknown): never => throwFailure(error, BROKEN_OFF)

/**
 * Yields the lines of a text, those that arrived together at once. What follows the last line feed is no line.
 *
 * @param onError throws the error of a text that breaks off
 */
export async function* readLines(
  stream: ReadableStream<Uint8Array>,
  onError: (error: unknown) => never,
): AsyncGenerator<readonly string[]> {
  const reader = stream.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read().catch(onError)
    if (done) return
    const lines = (rest + decoder.decode(value, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    if (lines.length > 0) yield lines
  }
}
