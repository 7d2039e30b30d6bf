/** The users of the demo. All lasting attributes of a user follow from the user's number. */
import { choosePlace, type Place } from './places.js'
import { createRandom, type Random } from './random.js'
import type { Day } from './traffic.js'
import { createChooser, type Weighted } from './weighted.js'

export interface User {
  readonly number: number
  readonly id: string
  readonly place: Place
  readonly device: Device
  /** The language that the browser prefers. */
  readonly language: string
  /** The plan the user signs up for on the first visit; absent for users who stay anonymous. */
  readonly plan?: string
}

const SEED = 2
const MEMBER_SHARE = 0.16
const HABITS_SEED = 7
/** The share of the users without an account whom the shop recognizes for one day only, as it does without cookies. */
const COOKIELESS_SHARE = 0.35
/** The share of the members who have two devices, and of their visits those with the second one. */
const TWO_DEVICES_SHARE = 0.2
const SECOND_DEVICE_SHARE = 0.4

const choosePlan = createChooser([
  { plan: 'free', weight: 62 },
  { plan: 'plus', weight: 27 },
  { plan: 'pro', weight: 11 },
])

/** Creates the user of a number, the same each time. */
export function createUser(number: number): User {
  const random = createRandom(SEED, number)
  const place = choosePlace(random)
  const device = chooseDevice(random)
  const { language } = place.chooseLanguage(random)
  const plan = random.chance(MEMBER_SHARE) ? { plan: choosePlan(random).plan } : {}
  return { number, id: `u${String(number).padStart(7, '0')}`, place, device, language, ...plan }
}

/**
 * Returns a user as the shop sees it on a visit: some users without an account have another id each day, and some members come with either of
 * two devices.
 *
 * @param day such as `2026-01-31`
 * @param visit unique among the visits of the day
 */
export function recognizeUser(user: User, day: string, visit: number): User {
  const habits = createRandom(HABITS_SEED, user.number)
  if (user.plan === undefined) {
    return habits.chance(COOKIELESS_SHARE) ? { ...user, id: `${user.id}-${day}` } : user
  }
  if (!habits.chance(TWO_DEVICES_SHARE)) return user
  const second = chooseDevice(habits)
  const isSecond = createRandom(HABITS_SEED, user.number, visit).chance(SECOND_DEVICE_SHARE)
  return isSecond ? { ...user, device: second } : user
}

/** Chooses a user of earlier days: recent users and members are more likely. */
export function chooseReturningUser({ knownUsers }: Day, random: Random): User {
  const draw = (): User => createUser(knownUsers - Math.floor(knownUsers * random.next() ** 2.5))
  const user = draw()
  return user.plan === undefined && random.chance(0.3) ? draw() : user
}

interface Device extends Weighted {
  readonly browser: string
  readonly os: string
  readonly device_type: string
}

type Row = readonly [browser: string, os: string, device_type: string, weight: number]

const ROWS: readonly Row[] = [
  ['Chrome', 'Android', 'mobile', 24],
  ['Mobile Safari', 'iOS', 'mobile', 21],
  ['Chrome', 'Windows', 'desktop', 18],
  ['Chrome', 'macOS', 'desktop', 8],
  ['Safari', 'macOS', 'desktop', 7],
  ['Edge', 'Windows', 'desktop', 6],
  ['Firefox', 'Windows', 'desktop', 3.5],
  ['Samsung Internet', 'Android', 'mobile', 3],
  ['Mobile Safari', 'iOS', 'tablet', 3],
  ['Firefox', 'Linux', 'desktop', 2],
  ['Firefox', 'Android', 'mobile', 1.2],
  ['Firefox', 'macOS', 'desktop', 1.2],
  ['Chrome', 'Android', 'tablet', 1.2],
  ['Chrome', 'Linux', 'desktop', 1],
  ['Opera', 'Windows', 'desktop', 0.6],
  ['Chrome', 'Chrome OS', 'desktop', 0.5],
]

const chooseDevice = createChooser<Device>(
  ROWS.map(([browser, os, device_type, weight]) => ({ browser, os, device_type, weight })),
)
