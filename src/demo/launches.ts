/** The launches of the demo: days on which the shop has news, and visits that come for them. */
import { DAY_MS } from '../lib/time.js'

/** What a launch adds to a day. */
export interface LaunchTraffic {
  /** The name of its campaign, e.g. `launch-june`. */
  readonly campaign: string
  /** The visits it adds, as a factor of the day's other visits. */
  readonly extra: number
}

/** The months with a launch, with their names in campaigns. It is on the second Tuesday. */
const MONTHS: ReadonlyMap<number, string> = new Map([
  [3, 'march'],
  [6, 'june'],
  [9, 'september'],
  [11, 'november'],
])
const TUESDAY = 2
const [EARLIEST_DATE, LATEST_DATE] = [8, 14]

/** The visits that a launch adds, on its day and on those after it. */
const EXTRAS = [1.3, 0.7, 0.4, 0.25, 0.15]

/** Finds what a launch adds to a day; undefined if there was none in the days before it. @param day counted from 1970-01-01 */
export function findLaunch(day: number): LaunchTraffic | undefined {
  const found = EXTRAS.map((extra, age) => ({ extra, campaign: findCampaign(day - age) })).find(
    ({ campaign }) => campaign !== undefined,
  )
  return found?.campaign === undefined
    ? undefined
    : { campaign: found.campaign, extra: found.extra }
}

/** Finds the campaign of the launch on a day; undefined if there is none. */
function findCampaign(day: number): string | undefined {
  const date = new Date(day * DAY_MS)
  const month = MONTHS.get(date.getUTCMonth() + 1)
  const inWeek = date.getUTCDate() >= EARLIEST_DATE && date.getUTCDate() <= LATEST_DATE
  if (month === undefined || !inWeek || date.getUTCDay() !== TUESDAY) return undefined
  return `launch-${month}`
}
