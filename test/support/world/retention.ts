/** The retention table by a plain reading of a list of events: no store, no SQL, no code of the service. */
import type { Cohort, RetentionRequest } from '../../../src/contract/api.js'
import { matchesFilters, type Event } from './reference.js'

const DAY = 86_400_000

/** The start of the interval that a moment lies in, in UTC. */
function findStart(interval: RetentionRequest['interval'], at: number): number {
  const day = new Date(Math.floor(at / DAY) * DAY)
  if (interval === 'month') day.setUTCDate(1)
  if (interval === 'week') while (day.getUTCDay() !== 1) day.setUTCDate(day.getUTCDate() - 1)
  return day.getTime()
}

/** The start of the interval that comes so many after one. */
function addIntervals(interval: RetentionRequest['interval'], start: number, count: number) {
  const day = new Date(start)
  if (interval === 'month') day.setUTCMonth(day.getUTCMonth() + count)
  else day.setUTCDate(day.getUTCDate() + count * (interval === 'week' ? 7 : 1))
  return day.getTime()
}

const format = (at: number): string => new Date(at).toISOString().replace('.000', '')

/** Computes the rows of a response. `period` ends before its end; `now` is any moment of the current second. */
export function computeCohorts(
  events: readonly Event[],
  request: RetentionRequest,
  period: { readonly start: number; readonly end: number },
  now: number,
): Cohort[] {
  const { interval } = request
  const end = Math.floor(now / 1_000) * 1_000 + 1_000
  const starts: number[] = []
  let next = findStart(interval, period.start)
  for (; next < period.end; next = addIntervals(interval, next, 1)) starts.push(next)
  const intervals = request.intervals ?? Math.max(1, starts.length - 1)
  const firstAt = new Map<string, number>()
  for (const { user, at } of events) if (!firstAt.has(user)) firstAt.set(user, at)
  const past = events.filter((event) => event.at < end && matchesFilters(event, request))
  const findUsers = (from: number, to: number): Set<string> =>
    new Set(past.filter(({ at }) => at >= from && at < to).map(({ user }) => user))
  return starts.map((start) => {
    const from = Math.max(start, period.start)
    const to = Math.min(addIntervals(interval, start, 1), period.end)
    const members = [...findUsers(from, to)].filter((user) => {
      const first = firstAt.get(user)!
      return first >= from && first < to
    })
    return {
      start: format(start),
      size: start < end ? members.length : null,
      counts: Array.from({ length: intervals }, (_, i) => {
        const follows = addIntervals(interval, start, i + 1)
        if (follows >= end) return null
        const active = findUsers(follows, addIntervals(interval, start, i + 2))
        return members.filter((user) => active.has(user)).length
      }),
    }
  })
}
