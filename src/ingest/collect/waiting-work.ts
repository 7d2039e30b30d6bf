/** Limits the work that waits to be loaded, so that no sender makes the events of others wait for long. */
import { ApiError } from '../../contract/errors.js'

/** What the loader last saw of the stream. */
export interface InboxView {
  /** When it asked, by `performance.now()`; -Infinity before the first time. */
  readonly askedAt: number
  /** When the oldest waiting row arrived, in milliseconds since 1970; Infinity when none waits. */
  readonly oldestAt: number
  /** Whether it has waited longer than a present loader would let it wait: the loader does something else, or cannot go on. */
  readonly isLate: boolean
}

export interface WaitingWork {
  /**
   * Refuses work that would make others wait. Small requests, as pages send them, may go further than large ones, and the
   * smallest are never refused. While the loader is away nothing is: all events wait anyway, and none should be lost.
   *
   * @param work as `measureWork` returns it
   * @throws ApiError RATE_LIMIT_EXCEEDED when the project has too much waiting, SERVICE_UNAVAILABLE when all have
   */
  readonly check: (projectId: string, work: number) => void
  /** Counts the work of a request until it is loaded. Returns a function to call once its events are stored, or are not. */
  readonly add: (
    projectId: string,
    work: number,
    receivedAt: Date,
  ) => (outcome: 'stored' | 'failed') => void
}

/** Requests with at most this much work are always accepted and not counted. */
const MAX_UNCOUNTED = 24

/** By the size of a request: the multiple of the limits up to which it is accepted, else 1. The first row that fits counts. */
const ROOM = [
  { maxWork: MAX_UNCOUNTED, multiple: Infinity },
  { maxWork: 256, multiple: 1.5 },
]

const findMultiple = (work: number): number =>
  ROOM.find(({ maxWork }) => work <= maxWork)?.multiple ?? 1

/** The part of the limit that one project may have waiting. */
const PROJECT_SHARE = 0.5

/** The work of one request. */
interface Entry {
  readonly projectId: string
  readonly work: number
  readonly receivedAt: number
  /** By `performance.now()`; undefined while its events are being stored. */
  storedAt: number | undefined
}

/**
 * Creates the limit. Work counts until the loader sees that no row waits that arrived as early. A request that begins
 * below the limit is accepted.
 *
 * @param max the values that may wait, half of them of one project
 */
export function createWaitingWork(max: number, readInbox: () => InboxView): WaitingWork {
  const entries = new Set<Entry>()
  const sums = createSums()
  let forgottenAt = -Infinity

  function remove(entry: Entry): void {
    if (entries.delete(entry)) sums.add(entry.projectId, -entry.work)
  }

  function forgetLoaded({ askedAt, oldestAt }: InboxView): void {
    if (askedAt === forgottenAt) return
    forgottenAt = askedAt
    for (const entry of entries) {
      const { storedAt, receivedAt } = entry
      if (storedAt !== undefined && storedAt < askedAt && receivedAt < oldestAt) remove(entry)
    }
  }

  return {
    check: (projectId, work) => {
      const inbox = readInbox()
      forgetLoaded(inbox)
      if (inbox.isLate) return
      const multiple = findMultiple(work)
      if (sums.read(projectId) >= max * PROJECT_SHARE * multiple) throw createTokenError()
      if (sums.readTotal() >= max * multiple) throw createOverloadError()
    },
    add: (projectId, work, receivedAt) => {
      if (work <= MAX_UNCOUNTED) return () => undefined
      const entry: Entry = {
        projectId,
        work,
        receivedAt: receivedAt.getTime(),
        storedAt: undefined,
      }
      entries.add(entry)
      sums.add(projectId, work)
      return (outcome) => {
        if (outcome === 'stored') entry.storedAt = performance.now()
        else remove(entry)
      }
    },
  }
}

/** Creates sums by project, and of all of them. */
function createSums() {
  const byProject = new Map<string, number>()
  let total = 0
  return {
    add: (projectId: string, amount: number): void => {
      const sum = (byProject.get(projectId) ?? 0) + amount
      if (sum === 0) byProject.delete(projectId)
      else byProject.set(projectId, sum)
      total += amount
    },
    read: (projectId: string): number => byProject.get(projectId) ?? 0,
    readTotal: (): number => total,
  }
}

const createTokenError = (): ApiError =>
  new ApiError(
    'RATE_LIMIT_EXCEEDED',
    'The public token has too many values waiting to be counted. Wait the seconds given in Retry-After.',
    { headers: { 'Retry-After': '1' } },
  )

const createOverloadError = (): ApiError =>
  new ApiError(
    'SERVICE_UNAVAILABLE',
    'Too many values are waiting to be counted. Try again in a moment.',
  )
