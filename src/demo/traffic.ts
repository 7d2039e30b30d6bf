/** The traffic of the demo: visits and new users of each day, and the hours of the visits. */
import { DAY_MS } from '../lib/time.js'
import { findLaunch, type LaunchTraffic } from './launches.js'
import { createRandom } from './random.js'
import { createChooser, type Weighted } from './weighted.js'

/** The number of the UTC day, counted from 1970-01-01. */
export const toDayNumber = (moment: Date): number => Math.floor(moment.getTime() / DAY_MS)

const SEED = 1
/** Visits of an average day half way through the growth. */
const MEAN_VISITS = 717
const GROWTH_DAYS = 395
/** Users before the first day. */
const INITIAL_USERS = 4_000
/** The share of visits that are a user's first. */
const NEW_USER_SHARE = 0.42

/** Factors by day of the week; 1970-01-01 was a Thursday. */
const WEEKDAY_FACTORS = [1.02, 0.92, 0.76, 1.14, 1.12, 1.04, 1]
/** Factors in the middle of each month; those of other days lie between them. People go outdoors in summer and shop in November. */
const MONTH_FACTORS = [0.92, 0.9, 0.97, 1.02, 1.08, 1.1, 1.05, 1, 0.96, 0.97, 1.2, 1.1]

const MIDDLE_OF_MONTH = 15.5
const MEAN_MONTH_DAYS = 30.4

/** The traffic of one day. */
export interface Day {
  /** Counted from 1970-01-01. */
  readonly number: number
  readonly visits: number
  /** The number of users that came before this day; their numbers start at 1. */
  readonly knownUsers: number
  /** The number of users that come for the first time; they get the next numbers. */
  readonly newUsers: number
  /** The launch that brings some of the visits. */
  readonly launch: LaunchTraffic | undefined
}

/** Generates all days from the first one; never ends. @param first counted from 1970-01-01 */
export function* generateDays(first: number): Generator<Day, never> {
  let knownUsers = INITIAL_USERS
  for (let number = first; ; number++) {
    const random = createRandom(SEED, number)
    const launch = findLaunch(number)
    const expected = computeExpectedVisits(number, number - first) * (1 + (launch?.extra ?? 0))
    const visits = Math.round(expected * (0.93 + 0.14 * random.next()))
    const newUsers = Math.round(visits * (NEW_USER_SHARE - 0.02 + 0.04 * random.next()))
    yield { number, visits, knownUsers, newUsers, launch }
    knownUsers += newUsers
  }
}

/**
 * Computes the mean number of visits of a day, without those that a launch adds.
 *
 * @param day counted from 1970-01-01
 * @param age days since the demo began
 */
function computeExpectedVisits(day: number, age: number): number {
  const growth = 0.6 + 0.8 * Math.min(1, age / GROWTH_DAYS)
  return MEAN_VISITS * growth * (WEEKDAY_FACTORS[day % 7] ?? 1) * computeSeason(day)
}

/** Computes the factor of a day, between those of the months around it. @param day counted from 1970-01-01 */
function computeSeason(day: number): number {
  const date = new Date(day * DAY_MS)
  const ofMonth = (months: number): number =>
    MONTH_FACTORS[(date.getUTCMonth() + months + 12) % 12] ?? 1
  const fromMiddle = (date.getUTCDate() - MIDDLE_OF_MONTH) / MEAN_MONTH_DAYS
  return ofMonth(0) + (ofMonth(Math.sign(fromMiddle)) - ofMonth(0)) * Math.abs(fromMiddle)
}

interface Hour extends Weighted {
  readonly hour: number
}

/** Weights by hour of the visitor's local time: low at night, a peak at noon, a higher one in the evening. */
const HOUR_WEIGHTS = [
  8, 5, 3, 2, 2, 4, 10, 22, 34, 40, 44, 46, 50, 46, 42, 42, 44, 48, 54, 62, 68, 60, 40, 20,
]

export const chooseHour = createChooser<Hour>(
  HOUR_WEIGHTS.map((weight, hour) => ({ hour, weight })),
)
