/** Limits the events and bytes that one public token, and one address, may send, and what they may have waiting. */
import type { Request, RequestHandler } from 'express'
import { LRUCache } from 'lru-cache'
import { ApiError } from '../../contract/errors.js'
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../lib/time.js'
import { BYTES_PER_VALUE } from '../../ingest/collect/measure-work.js'
import type { CheckWork } from '../../ingest/collect/collect.js'
import { getCollectContext } from '../server/request-context.js'

/** How many events and bytes may be sent; 0 means no limit. */
export interface EventLimits {
  readonly tokenEventsPerMinute: number
  readonly tokenMbPerMinute: number
  /** Within 24 hours from the first event. */
  readonly tokenEventsPerDay: number
  readonly addressEventsPerMinute: number
  readonly addressMbPerMinute: number
}

interface LimitHandlers {
  /** Rejects a request whose address has used up a limit. */
  readonly checkAddress: RequestHandler
  /** Rejects a request whose token has used up a limit; counts the request otherwise. */
  readonly countEvents: RequestHandler
}

const BYTES_PER_MB = 1_048_576

/** One limit: what is counted, for whom, and within which time. */
interface Limit {
  readonly max: number
  readonly windowMs: number
  readonly sender: 'address' | 'public token'
  readonly unit: 'events' | 'bytes'
}

const listLimits = (limits: EventLimits): readonly Limit[] =>
  (
    [
      [limits.tokenEventsPerMinute, MINUTE_MS, 'public token', 'events'],
      [limits.tokenMbPerMinute * BYTES_PER_MB, MINUTE_MS, 'public token', 'bytes'],
      [limits.tokenEventsPerDay, DAY_MS, 'public token', 'events'],
      [limits.addressEventsPerMinute, MINUTE_MS, 'address', 'events'],
      [limits.addressMbPerMinute * BYTES_PER_MB, MINUTE_MS, 'address', 'bytes'],
    ] as const
  )
    .map(([max, windowMs, sender, unit]) => ({ max, windowMs, sender, unit }))
    .filter(({ max }) => max > 0)

/** Creates the handlers. A window begins with the first request in it. A request that begins below a limit is accepted. */
export function createLimitHandlers(given: EventLimits): LimitHandlers {
  const counters = listLimits(given).map((limit) => ({ limit, counter: createCounter(limit) }))
  const check = (request: Request, of: Limit['sender'] | 'any'): void => {
    for (const { limit, counter } of counters) {
      if (of !== 'any' && limit.sender !== of) continue
      const waitMs = counter.findWait(identifySender(request, limit.sender))
      if (waitMs > 0) throw createLimitError(limit.sender, waitMs)
    }
  }
  return {
    checkAddress: (request, _response, next) => {
      check(request, 'address')
      next()
    },
    countEvents: (request, _response, next) => {
      check(request, 'any')
      const { events = 1, bytes = 0 } = getCollectContext(request)
      for (const { limit, counter } of counters) {
        const amount = limit.unit === 'events' ? events : bytes
        counter.add(identifySender(request, limit.sender), amount)
      }
      next()
    },
  }
}

const identifySender = (request: Request, sender: Limit['sender']): string =>
  (sender === 'address' ? request.ip : getCollectContext(request).project?.token) ?? ''

/** A service remembers this many senders; those that sent least recently are forgotten. */
const MAX_SENDERS = 50_000

function createCounter({ max, windowMs }: Limit) {
  const windows = new LRUCache<string, { amount: number }>({
    max: MAX_SENDERS,
    ttl: windowMs,
  })
  return {
    /** Returns the milliseconds until the sender may send again; 0 if it may now. */
    findWait: (sender: string): number =>
      (windows.get(sender)?.amount ?? 0) < max ? 0 : Math.max(1, windows.getRemainingTTL(sender)),
    add: (sender: string, amount: number): void => {
      const window = windows.get(sender)
      if (window === undefined) windows.set(sender, { amount })
      else window.amount += amount
    },
  }
}

const createLimitError = (sender: Limit['sender'], waitMs: number): ApiError =>
  new ApiError(
    'RATE_LIMIT_EXCEEDED',
    `The ${sender} has sent more than it may. Wait the seconds given in Retry-After.`,
    { headers: { 'Retry-After': String(Math.ceil(waitMs / SECOND_MS)) } },
  )

/**
 * Refuses large requests of a project that has too much waiting, before they are read or validated. Only the size of the
 * body is known then; the collector measures the others. The handler may be used several times: it passes requests whose
 * project is not known yet.
 */
export const refuseLargeRequests =
  (checkWork: CheckWork): RequestHandler =>
  (request, _response, next) => {
    const { project, bytes = Number(request.headers['content-length'] ?? 0) } =
      getCollectContext(request)
    if (project !== undefined) checkWork(project, bytes / BYTES_PER_VALUE)
    next()
  }
