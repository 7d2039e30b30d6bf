/** The launches of the demo: days on which the shop has news, and visits that come for them. */
import { DAY_MS } from '../lib/time.js'

/** What a launch adds to a day. */
export interface LaunchTraffic {
  /** The name of its campaign, e.g. `launch-june`. */
  readonly campaign: string
  /** The visits it adds, as a factor of the day's other visits. */
  readonly extra: number
}

/** A launch takes place on the second Tuesday of each month. */
interface Launch {
  /** The month in the name of its campaign. */
  readonly month: string
  /** Its traffic, as a share of that of a collection's launch. */
  readonly size: number
}

/** From January on. Four of them show a new collection, the others single products. */
const LAUNCHES: readonly Launch[] = [
  { month: 'january', size: 0.5 },
  { month: 'february', size: 0.45 },
  { month: 'march', size: 1 },
  { month: 'april', size: 0.5 },
  { month: 'may', size: 0.6 },
  { month: 'june', size: 1 },
  { month: 'july', size: 0.45 },
  { month: 'august', size: 0.55 },
  { month: 'september', size: 1 },
  { month: 'october', size: 0.5 },
  { month: 'november', size: 1 },
  { month: 'december', size: 0.6 },
]
const TUESDAY = 2
const [EARLIEST_DATE, LATEST_DATE] = [8, 14]

/** The visits that the launch of a collection adds, on its day and on those after it. */
const EXTRAS = [1.3, 0.7, 0.4, 0.25, 0.15]

/** Finds what a launch adds to a day; undefined if there was none in the days before it. @param day counted from 1970-01-01 */
export const findLaunch = (day: number): LaunchTraffic | undefined =>
  EXTRAS.flatMap((extra, age) => {
    const launch = findLaunchOf(day - age)
    return launch === undefined
      ? []
      : [{ campaign: `launch-${launch.month}`, extra: extra * launch.size }]
  })[0]

/** Finds the launch that takes place on a day. */
function findLaunchOf(day: number): Launch | undefined {
  const date = new Date(day * DAY_MS)
  const isInWeek = date.getUTCDate() >= EARLIEST_DATE && date.getUTCDate() <= LATEST_DATE
  return isInWeek && date.getUTCDay() === TUESDAY ? LAUNCHES[date.getUTCMonth()] : undefined
}
