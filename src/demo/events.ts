/** Generates the events of the demo in order of time. Each day is the same whenever it is generated. */
import { DAY_MS, formatDay, HOUR_MS } from '../lib/time.js'
import { LAUNCH_PAGE } from './pages.js'
import { addPageleaves } from './pageleaves.js'
import { createRandom } from './random.js'
import {
  buildMailQuery,
  buildSocialQuery,
  getSourceChooser,
  instagram,
  newsletter,
  paidInstagram,
  trailblog,
  youTube,
  type Source,
} from './sources.js'
import { chooseHour, generateDays, toDayNumber, type Day } from './traffic.js'
import { chooseReturningUser, createUser, recognizeUser } from './users.js'
import { generateVisit, type DemoEvent } from './visit.js'
import { createChooser, type Choose } from './weighted.js'

export interface DemoPeriod {
  /** The day on which the demo's history begins; all events depend on it. */
  readonly start: Date
  /** Whole days before the day of this moment are left out. */
  readonly from: Date
  /** Events after this moment are left out. */
  readonly until: Date
}

const SEED = 3

/** Generates the events of a period, one array per day. */
export function* generateEvents({
  start,
  from,
  until,
}: DemoPeriod): Generator<readonly DemoEvent[]> {
  const [first, last] = [toDayNumber(from), toDayNumber(until)]
  const latest = until.toISOString()
  // Visits continue after midnight: a day also holds the end of visits that began the day before.
  let afterMidnight: readonly DemoEvent[] = []
  for (const day of generateDays(toDayNumber(start))) {
    if (day.number > last) return
    if (day.number < first - 1) continue
    const midnight = new Date((day.number + 1) * DAY_MS).toISOString()
    const events = [...afterMidnight, ...generateVisits(day)].sort(compareByTime)
    afterMidnight = events.filter(({ timestamp }) => timestamp >= midnight)
    if (day.number < first) continue
    const isOver = latest >= midnight
    yield events.filter(({ timestamp }) => timestamp < midnight && (isOver || timestamp <= latest))
  }
}

/** Generates the events of the visits that begin on a day, visit by visit. */
function generateVisits(day: Day): readonly DemoEvent[] {
  const random = createRandom(SEED, day.number)
  const midnight = day.number * DAY_MS
  const date = new Date(midnight)
  const today = formatDay(date)
  const chooseOther = getSourceChooser(date.getUTCMonth() + 1)
  const { extra = 0, campaign = '' } = day.launch ?? {}
  const chooseLaunch = createLaunchChooser(campaign)
  const chooseSource = (): Source =>
    extra > 0 && random.chance(extra / (1 + extra)) ? chooseLaunch(random) : chooseOther(random)
  return Array.from({ length: day.visits }, (_, i) => {
    const isFirst = i < day.newUsers
    const user = isFirst ? createUser(day.knownUsers + i + 1) : chooseReturningUser(day, random)
    const hour = (24 + chooseHour(random).hour - user.place.offset) % 24
    const startAt = midnight + hour * HOUR_MS + random.below(HOUR_MS)
    const visit = {
      id: `demo-${today}-${i}`,
      startAt,
      user: recognizeUser(user, today, i),
      isFirst,
      source: chooseSource(),
    }
    return addPageleaves(visit, generateVisit(visit, random))
  }).flat()
}

/** Timestamps all have the same form, so they sort as strings. */
function compareByTime(a: DemoEvent, b: DemoEvent): number {
  if (a.timestamp !== b.timestamp) return a.timestamp < b.timestamp ? -1 : 1
  return a.event_id < b.event_id ? -1 : 1
}

/** Where visits for a launch come from; all lead to its page. */
const listLaunchSources = (campaign: string): readonly Source[] =>
  [
    { weight: 34, ...newsletter, query: buildMailQuery(campaign), bounces: 0.3 },
    { weight: 20, ...paidInstagram, query: buildSocialQuery(campaign, 'reel'), bounces: 0.6 },
    { weight: 14, ...instagram, bounces: 0.58 },
    { weight: 12, ...youTube, bounces: 0.49 },
    { weight: 12, ...trailblog, bounces: 0.42 },
    { weight: 8, fields: {}, bounces: 0.4 },
  ].map((source) => ({ ...source, landing: LAUNCH_PAGE }))

/** Creates the chooser of the visits that a launch adds. */
const createLaunchChooser = (campaign: string): Choose<Source> =>
  createChooser(listLaunchSources(campaign))
