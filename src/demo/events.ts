/** The events of the demo in the order of time. Each day comes out the same whenever it is made. */
import { createRandom } from './random.js'
import { sourcesOf } from './sources.js'
import { chooseHour, DAY_MS, dayOf, daysFrom, type Day } from './traffic.js'
import { returningUser, userOf } from './users.js'
import { eventsOf, type DemoEvent } from './visit.js'

export interface DemoPeriod {
  /** The day on which the demo's history begins; everything depends on it. */
  readonly start: Date
  /** Whole days before the one of this moment are left out. */
  readonly from: Date
  /** Nothing happens after this moment. */
  readonly until: Date
}

const SEED = 3
const HOUR_MS = 3_600_000

/** The events of each day of a period, one array a day. */
export function* demoDays({ start, from, until }: DemoPeriod): Generator<readonly DemoEvent[]> {
  const [first, last] = [dayOf(from), dayOf(until)]
  const latest = until.toISOString()
  // Visits go on after midnight, so a day also holds the end of those that began the day before.
  let after: readonly DemoEvent[] = []
  for (const day of daysFrom(dayOf(start))) {
    if (day.number > last) return
    if (day.number < first - 1) continue
    const midnight = new Date((day.number + 1) * DAY_MS).toISOString()
    const events = [...after, ...eventsStarting(day)].sort(inTime)
    after = events.filter(({ timestamp }) => timestamp >= midnight)
    if (day.number < first) continue
    const isOver = latest >= midnight
    yield events.filter(({ timestamp }) => timestamp < midnight && (isOver || timestamp <= latest))
  }
}

/** The events of the visits that begin on a day. */
function eventsStarting(day: Day): readonly DemoEvent[] {
  const random = createRandom(SEED, day.number)
  const midnight = day.number * DAY_MS
  const date = new Date(midnight)
  const prefix = `demo-${date.toISOString().slice(0, 10)}`
  const chooseSource = sourcesOf(date.getUTCMonth() + 1)
  return Array.from({ length: day.visits }, (_, place) => {
    const isFirst = place < day.newUsers
    const user = isFirst ? userOf(day.knownUsers + place + 1) : returningUser(day, random)
    const hour = (24 + chooseHour(random).hour - user.place.offset) % 24
    const startAt = midnight + hour * HOUR_MS + random.below(HOUR_MS)
    const visit = { id: `${prefix}-${place}`, startAt, user, isFirst, source: chooseSource(random) }
    return eventsOf(visit, random)
  }).flat()
}

/** All timestamps have one form, so their order is that of their texts. */
function inTime(a: DemoEvent, b: DemoEvent): number {
  if (a.timestamp !== b.timestamp) return a.timestamp < b.timestamp ? -1 : 1
  return a.event_id < b.event_id ? -1 : 1
}
