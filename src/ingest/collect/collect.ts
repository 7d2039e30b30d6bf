/** Collects: takes the checked events of a request and has them kept. */
import { randomUUID } from 'node:crypto'
import type { Accepted, SentEvent } from '../../contract/collector-api.js'
import type { InboxWriter } from '../inbox/inbox-writer.js'
import { addClientInfo, type ClientInfo } from './client-info.js'

/** The events of one request, fit to be kept. */
export interface Collection {
  readonly projectId: string
  readonly events: readonly SentEvent[]
  readonly client: ClientInfo
  /** When the request came. */
  readonly receivedAt: Date
}

/** Keeps the events of a request: they are in the inbox once the answer is there. */
export type Collect = (collection: Collection) => Promise<Accepted>

/** @param write puts lines into the inbox, all of them or none */
export const createCollect =
  (write: InboxWriter['write']): Collect =>
  async ({ projectId, events, client, receivedAt }) => {
    const lines = events.map((event) => JSON.stringify(withId(addClientInfo(event, client))))
    await write({ projectId, lines, receivedAt })
    return { accepted: events.length }
  }

/** What is written again after an answer was lost counts once by its id, so each event gets one. */
const withId = (event: SentEvent): SentEvent =>
  (event.event_id ?? '') === '' ? { ...event, event_id: randomUUID() } : event
