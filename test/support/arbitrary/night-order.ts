/** Brings the events of visits over midnight in order, where their users have no id. */
import { DAY_MS, MINUTE_MS } from '../../../src/lib/time.js'
import { takeCharacters } from '../../../src/lib/text.js'
import type { SentEvent } from '../world/world.js'

/** An event and its place in the order of arrival. */
interface Arrival {
  readonly place: number
  readonly event: SentEvent
}

/**
 * Gives the events of each visit over midnight their places in order of time, if they have no user id: a late event does not change
 * the user of events that are stored. All other events keep their places.
 */
export function orderNights(arrivals: readonly Arrival[]): Arrival[] {
  const series = new Map<string, Arrival[]>()
  for (const one of arrivals) {
    const { user_id, ip, user_agent, session_id } = one.event
    const agent = takeCharacters(typeof user_agent === 'string' ? user_agent : '', 1_024)
    const key = JSON.stringify([user_id ?? '', ip ?? '', agent, session_id ?? ''])
    series.set(key, [...(series.get(key) ?? []), one])
  }
  return [...series].flatMap(([key, all]) =>
    key.startsWith('[""') ? cutIntoVisits(all).flatMap(orderVisit) : all,
  )
}

const timeOf = ({ event }: Arrival): number => Date.parse(event.timestamp)
const dayOf = (arrival: Arrival): number => Math.floor(timeOf(arrival) / DAY_MS)

/** Cuts events at pauses of more than 30 minutes, those with a session id at days without any. */
function cutIntoVisits(arrivals: readonly Arrival[]): readonly (readonly Arrival[])[] {
  const visits: Arrival[][] = []
  for (const one of arrivals.toSorted((a, b) => timeOf(a) - timeOf(b))) {
    const visit = visits.at(-1)
    const before = visit?.at(-1)
    const goesOn =
      before !== undefined &&
      ((one.event['session_id'] ?? '') === ''
        ? timeOf(one) - timeOf(before) <= 30 * MINUTE_MS
        : dayOf(one) - dayOf(before) <= 1)
    if (goesOn) visit?.push(one)
    else visits.push([one])
  }
  return visits
}

function orderVisit(visit: readonly Arrival[]): readonly Arrival[] {
  if (new Set(visit.map(dayOf)).size === 1) return visit
  const places = visit.map(({ place }) => place).sort((a, b) => a - b)
  return visit.map(({ event }, i) => ({ event, place: places[i] ?? 0 }))
}
