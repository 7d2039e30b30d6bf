/** Writes the validated events of a request to the inbox. */
import { randomUUID } from 'node:crypto'
import type { Accepted, SentEvent } from '../../contract/collector-api.js'
import { LIMIT_MESSAGES } from '../../model/event-fields.js'
import type { InboxWriter } from '../inbox/inbox-writer.js'
import { addClientInfo, isPresent, type ClientInfo } from './client-info.js'
import { formatLine } from './format-line.js'
import { measureWork } from './measure-work.js'
import type { WaitingWork } from './waiting-work.js'

/** The events of one request; they have passed validation. */
export interface CollectedEvents {
  readonly projectId: string
  readonly events: readonly SentEvent[]
  readonly client: ClientInfo
  /** The time of arrival of the request. */
  readonly receivedAt: Date
}

/**
 * Collects the events of a request. The promise resolves once they are in the inbox.
 *
 * @throws EventTooLargeError; ApiError SERVICE_UNAVAILABLE, as `InboxWriter.write`; ApiError, as `WaitingWork.check`
 */
export type Collect = (collection: CollectedEvents) => Promise<Accepted>

/** Thrown when events are larger than the service accepts. None of the request is stored. */
export class EventTooLargeError extends Error {
  override readonly name = 'EventTooLargeError'

  /** The positions of the events in the request, counted from 0. */
  readonly indexes: readonly number[]

  constructor(indexes: readonly number[]) {
    super(LIMIT_MESSAGES.eventTooLarge)
    this.indexes = indexes
  }
}

/**
 * Creates the function that collects events.
 *
 * @param write inserts lines into the inbox, all of them or none
 * @param waiting limits the work that waits; undefined for no limit
 */
export const createCollect =
  (write: InboxWriter['write'], waiting?: WaitingWork): Collect =>
  async ({ projectId, events, client, receivedAt }) => {
    const lines = events.map((event) => formatLine(addEventId(addClientInfo(event, client))))
    if (!lines.every((line) => line !== undefined)) throw new EventTooLargeError(findMissing(lines))
    const bytes = lines.reduce((sum, { length }) => sum + length, 0)
    const work = waiting === undefined ? 0 : measureWork(events, bytes)
    waiting?.check(projectId, work)
    const settle = waiting?.add(projectId, work, receivedAt)
    try {
      await write({ projectId, lines, receivedAt })
      settle?.('stored')
    } catch (error) {
      settle?.('failed')
      throw error
    }
    return { accepted: events.length }
  }

/**
 * Gives an event an id if it has none. An insert whose acknowledgement was lost is repeated; with an id, an event that
 * was inserted twice counts once.
 */
const addEventId = (event: SentEvent): SentEvent =>
  isPresent(event.event_id) ? event : { ...event, event_id: randomUUID() }

const findMissing = (lines: readonly unknown[]): readonly number[] =>
  lines.flatMap((line, index) => (line === undefined ? [index] : []))
