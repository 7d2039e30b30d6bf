/** What the query API is made of, as its handlers are passed it. */
import type { ResponseCache } from '../../analytics/cache/responses.js'
import type { Explanation } from '../../analytics/explain-operation.js'
import type { StreamDependencies } from '../../analytics/operation.js'
import type { ResponseSource } from '../../contract/api.js'
import type { Definition } from '../../model/definitions.js'
import type { StoredProject } from '../../projects/project.js'
import type { RunningRequest } from './context.js'
import type { QueryQueue } from './queue/query-queue.js'

export interface QueryApi {
  /**
   * Reads the data of a project for a request, at one moment, and logs the plans. If the data changes meanwhile, `read` is called again; it may send a
   * response when its first rows have come.
   *
   * @throws what `read` rejects with; ApiError SERVICE_UNAVAILABLE while a change is published for longer than the request may take
   */
  readonly readData: <Result>(
    project: StoredProject,
    request: RunningRequest,
    read: (data: StreamDependencies) => Promise<Result>,
  ) => Promise<Result>
  /** Reads the goals and segments of a project as they are now. @throws ApiError SERVICE_UNAVAILABLE if the store does not answer */
  readonly readDefinitions: (projectId: string) => Promise<readonly Definition[]>
  /** Knows responses that were given before. */
  readonly responses: ResponseCache
  /** Presents an explanation to the reader. */
  readonly presentExplanation: (explanation: Explanation) => Explanation
  /** The queue of all requests that read the store, but those of streams and exports. */
  readonly queue: QueryQueue
  /** The queue of requests whose responses are streamed: they last, and must not delay the others. */
  readonly streams: QueryQueue
  /** The queue of exports: they may last for hours, and leave the streams their places. */
  readonly exports: QueryQueue
  /** Counts a query of a project that was answered. @param source how the response was found; undefined if it was streamed */
  readonly countQuery: (projectId: string, source?: ResponseSource) => void
  readonly now: () => Date
}
