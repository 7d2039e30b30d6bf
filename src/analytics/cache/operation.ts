/** What the cache has to know about an operation whose answers are kept. */
import type { DateRange } from '../../contract/api.js'
import type { Resolve } from '../query-analytics.js'

/** The part of a request that the cache looks at itself. */
export interface DatedRequest {
  readonly date_range: DateRange
}

/**
 * Writes the end of what is read. All moments from which on the project is known to have no events are written alike: an answer does not
 * depend on which of them it is.
 */
export type WriteEnd = (end: Date) => number | string

/**
 * An operation whose answers are kept. The rows of an answer are the part of its body that does not repeat the question; they follow
 * that part.
 */
export interface KeptOperation<Request extends DatedRequest, Resolved, Body> {
  readonly resolve: Resolve<Request, Resolved>
  /**
   * Names what the rows of an answer depend on, beside the data: not on how the question was put. Names begin with that of the
   * operation.
   */
  readonly name: (request: Request, resolved: Resolved, writeEnd: WriteEnd) => readonly unknown[]
  /** Lists the moments whose ends are named, ascending. No event from the last one on is read. */
  readonly listEnds: (request: Request, resolved: Resolved) => readonly [Date, ...Date[]]
  /** Builds the part of the body that repeats the question. */
  readonly shapeEcho: (request: Request, resolved: Resolved) => object
  readonly pickRows: (body: Body) => object
}
