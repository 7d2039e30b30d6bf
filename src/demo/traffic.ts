/** How much goes on in the demo: visits and new users of each day, and the hours they come at. */
import { createRandom } from './random.js'
import { chooser, type Weighted } from './weighted.js'

export const DAY_MS = 86_400_000

/** The number of a day since 1970. */
export const dayOf = (moment: Date): number => Math.floor(moment.getTime() / DAY_MS)

const SEED = 1
/** Visits of a mean day in the middle of the growth. */
const MEAN_VISITS = 780
const GROWTH_DAYS = 395
/** The shop had these users when counting began. */
const FIRST_USERS = 4_000
const NEW_SHARE = 0.42

/** From Thursday on, the first day of 1970. */
const WEEKDAYS = [1.02, 0.94, 0.86, 1.08, 1.06, 1.03, 1.04]
/** From January on: people go outdoors in summer, and shop in November. */
const MONTHS = [0.92, 0.9, 0.97, 1.02, 1.08, 1.1, 1.05, 1, 0.96, 0.97, 1.2, 1.1]

/** What a day of the demo holds. */
export interface Day {
  readonly number: number
  readonly visits: number
  /** Users who had come before this day are numbered from 1 to this. */
  readonly knownUsers: number
  /** Users who come for the first time; they have the numbers after. */
  readonly newUsers: number
}

/** All days from the first one on, without end. */
export function* daysFrom(first: number): Generator<Day, never> {
  let knownUsers = FIRST_USERS
  for (let number = first; ; number++) {
    const random = createRandom(SEED, number)
    const visits = Math.round(expected(number, number - first) * (0.93 + 0.14 * random.next()))
    const newUsers = Math.round(visits * (NEW_SHARE - 0.02 + 0.04 * random.next()))
    yield { number, visits, knownUsers, newUsers }
    knownUsers += newUsers
  }
}

function expected(day: number, age: number): number {
  const month = new Date(day * DAY_MS).getUTCMonth()
  const growth = 0.6 + 0.8 * Math.min(1, age / GROWTH_DAYS)
  return MEAN_VISITS * growth * (WEEKDAYS[day % 7] ?? 1) * (MONTHS[month] ?? 1)
}

interface Hour extends Weighted {
  readonly hour: number
}

/** By the clocks of the visitor: a break at night, a hill at noon and a higher one in the evening. */
const HOURS = [
  8, 5, 3, 2, 2, 4, 10, 22, 34, 40, 44, 46, 50, 46, 42, 42, 44, 48, 54, 62, 68, 60, 40, 20,
]
export const chooseHour = chooser<Hour>(HOURS.map((weight, hour) => ({ hour, weight })))
