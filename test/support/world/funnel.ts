/** A funnel by a plain reading of a list of events: no store, no SQL, no code of the service. */
import type { FunnelRequest, FunnelStepResult } from '../../../src/contract/api.js'
import { matchesFilters, roundToHundredths, type Event } from './reference.js'

/** An event that completes a step: when, the starts of all chains that end with it, and when the event before it was. */
interface Completion {
  readonly event: Event
  readonly starts: ReadonlySet<number>
  readonly gap: number
}

/** Finds the events of a user that complete the next step, by trying every event before each. */
function completeNext(
  events: readonly Event[],
  before: readonly Completion[],
  within: FunnelRequest['within'],
): Completion[] {
  return events.flatMap((event): Completion[] => {
    const starts = new Set<number>()
    let gap = Infinity
    for (const { event: earlier, starts: all } of before) {
      if (earlier.at >= event.at) continue
      if (within === 'visit' && earlier.session !== event.session) continue
      const inTime = [...all].filter((at) => within === 'visit' || event.at - at <= within * 1_000)
      for (const at of inTime) starts.add(at)
      if (inTime.length > 0) gap = Math.min(gap, event.at - earlier.at)
    }
    return starts.size === 0 ? [] : [{ event, starts, gap }]
  })
}

/** The number in the middle, or the mean of two, from milliseconds to hundredths of seconds. */
function computeMedian(gaps: readonly number[]): number | null {
  const sorted = gaps.toSorted((a, b) => a - b)
  const [low, high] = [(sorted.length - 1) >> 1, sorted.length >> 1].map((i) => sorted[i])
  return low === undefined || high === undefined ? null : roundToHundredths(low + high, 20)
}

/** Computes the rows of a response. `period` ends before its end. */
export function computeFunnel(
  events: readonly Event[],
  request: FunnelRequest,
  period: { readonly start: number; readonly end: number },
): FunnelStepResult[] {
  const matching = events.filter(
    (event) => event.at >= period.start && event.at < period.end && matchesFilters(event, request),
  )
  const users = [...new Set(matching.map(({ user }) => user))]
  /** For each step the time that each user needs who completes it. */
  const gaps: number[][] = request.steps.map(() => [])
  for (const user of users) {
    const own = matching.filter((event) => event.user === user)
    let completions: Completion[] = []
    for (const [i, step] of request.steps.entries()) {
      const candidates = own.filter((event) => matchesFilters(event, step))
      completions =
        i === 0
          ? candidates.map((event) => ({ event, starts: new Set([event.at]), gap: 0 }))
          : completeNext(candidates, completions, request.within)
      if (completions.length === 0) break
      const first = Math.min(...completions.map(({ event }) => event.at))
      gaps[i]!.push(
        Math.min(...completions.filter(({ event }) => event.at === first).map(({ gap }) => gap)),
      )
    }
  }
  const share = (count: number, base: number): number | null =>
    base === 0 ? null : roundToHundredths(10_000 * count, base)
  return gaps.map((all, i) => ({
    step: i + 1,
    users: all.length,
    share_of_first: share(all.length, gaps[0]!.length),
    share_of_previous: i === 0 ? null : share(all.length, gaps[i - 1]!.length),
    median_seconds: i === 0 ? null : computeMedian(all),
  }))
}
