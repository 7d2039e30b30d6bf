/** Writes the validated events of a request to the inboxes of their project's shards. */
import { randomUUID } from 'node:crypto'
import { chooseShard } from '../../cluster/choose-shard.js'
import type { SentEvent } from '../../contract/collector-api.js'
import { LIMIT_MESSAGES } from '../../model/event-fields.js'
import type { StoredProject } from '../../projects/project.js'
import type { InboxWriter } from '../inbox/inbox-writer.js'
import { addClientInfo, isPresent, type ClientInfo } from './client-info.js'
import { findBots, type BotEvents } from './find-bots.js'
import { formatLine } from './format-line.js'
import { measureWork } from './measure-work.js'
import type { WaitingWork } from './waiting-work.js'

/** What the collector needs to know of a project. */
export type CollectingProject = Pick<StoredProject, 'id' | 'shards' | 'formerWidths'>

/** The events of one request; they have passed validation. */
interface CollectedEvents {
  readonly project: CollectingProject
  readonly events: readonly SentEvent[]
  readonly client: ClientInfo
  /** The time of arrival of the request, which is stored with its events. */
  readonly receivedAt: Date
}

/**
 * Collects the events of a request. The promise resolves once they are in the inboxes of their shards. When it rejects, some
 * shards may have theirs: events with ids can be sent again.
 *
 * @throws EventTooLargeError; ApiError SERVICE_UNAVAILABLE, as `Entrance.write`; ApiError, as `WaitingWork.check`
 */
export type Collect = (collection: CollectedEvents) => Promise<Collected>

/** What became of the events of a request. */
export interface Collected extends BotEvents {
  /** The number of events that are stored: all of the request. */
  readonly accepted: number
}

/** The way into the inbox of a store. */
export interface Entrance {
  /** Inserts lines into the inbox, all of them or none. */
  readonly write: InboxWriter['write']
  /** @throws ApiError SERVICE_UNAVAILABLE while the store has no room for events */
  readonly requireSpace?: () => void
  /** Limits the work that waits; undefined for no limit. */
  readonly waiting?: WaitingWork | undefined
}

/** The entrances of a project's shards, in order. */
export type Entrances = readonly [Entrance, ...Entrance[]]

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
 * Refuses a request by its size, before its events are known: each shard is asked about an equal part.
 *
 * @throws ApiError, as `WaitingWork.check`
 */
export type CheckWork = (project: CollectingProject, work: number) => void

/** Creates a `CheckWork`. @param findEntrances as of `createCollect` */
export const createCheckWork =
  (findEntrances: (project: CollectingProject) => Entrances): CheckWork =>
  (project, work) => {
    const entrances = findEntrances(project)
    for (const { waiting } of entrances) waiting?.check(project.id, work / entrances.length)
  }

interface FormattedEvent<Line = string> {
  /** As sent. */
  readonly sent: SentEvent
  /** With an id, and what is known of the client. */
  readonly event: SentEvent
  /** Undefined if the event is too large. */
  readonly line: Line
}

/**
 * Creates the function that collects events. All lines are formatted, and all limits are checked, before anything is written.
 *
 * @param findEntrances finds the entrances of a project. @throws ApiError SERVICE_UNAVAILABLE if one is not known
 */
export const createCollect =
  (findEntrances: (project: CollectingProject) => Entrances): Collect =>
  async ({ project, events, client, receivedAt }) => {
    const entrances = findEntrances(project)
    const formatted = events.map((sent) => {
      const event = addEventId(addClientInfo(sent, client))
      return { sent, event, line: formatLine(event) }
    })
    if (!formatted.every(hasLine)) throw new EventTooLargeError(findTooLarge(formatted))
    const parts = splitEvents(formatted, entrances, (event) =>
      chooseShard(event, project, receivedAt),
    ).map((part) => ({ ...part, work: measure(part) }))
    for (const { entrance, work } of parts) {
      entrance.waiting?.check(project.id, work)
      entrance.requireSpace?.()
    }
    const written = parts.map(async ({ entrance, lines, work }) => {
      const settle = entrance.waiting?.add(project.id, work, receivedAt)
      try {
        await entrance.write({ projectId: project.id, lines, receivedAt })
        settle?.('stored')
      } catch (error) {
        settle?.('failed')
        throw error
      }
    })
    const outcomes = await Promise.allSettled(written)
    const failed = outcomes.find((outcome) => outcome.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    return { accepted: events.length, ...findBots(formatted, client) }
  }

/** The events of a request that go to one shard. */
interface Part {
  readonly entrance: Entrance
  /** As sent. */
  readonly events: SentEvent[]
  readonly lines: string[]
}

/** Splits events by their shards. A shard without events has no part. */
function splitEvents(
  formatted: readonly FormattedEvent[],
  entrances: Entrances,
  choose: (event: SentEvent) => number,
): readonly Part[] {
  const parts = entrances.map((entrance): Part => ({ entrance, events: [], lines: [] }))
  for (const { sent, event, line } of formatted) {
    const part = parts[choose(event)]
    part?.events.push(sent)
    part?.lines.push(line)
  }
  return parts.filter(({ lines }) => lines.length > 0)
}

const measure = ({ entrance, events, lines }: Part): number =>
  entrance.waiting === undefined ? 0 : measureWork(events, sumLengths(lines))

const sumLengths = (lines: readonly string[]): number =>
  lines.reduce((sum, { length }) => sum + length, 0)

/**
 * Gives an event an id if it has none. An insert whose acknowledgement was lost is repeated; with an id, an event that
 * was inserted twice counts once.
 */
const addEventId = (event: SentEvent): SentEvent =>
  isPresent(event.event_id) ? event : { ...event, event_id: randomUUID() }

const hasLine = (one: FormattedEvent<string | undefined>): one is FormattedEvent =>
  one.line !== undefined

const findTooLarge = (
  formatted: readonly FormattedEvent<string | undefined>[],
): readonly number[] => formatted.flatMap((one, index) => (hasLine(one) ? [] : [index]))
