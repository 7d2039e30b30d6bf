/** The users of the demo. All lasting attributes of a user follow from the user's number. */
import { chooseDevice, type Device } from './devices.js'
import { choosePlace, type Place } from './places.js'
import { createRandom, type Random } from './random.js'
import type { Day } from './traffic.js'
import { createChooser } from './weighted.js'

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

/** Chooses a user of earlier days: recent users and members are more likely. */
export function chooseReturningUser({ knownUsers }: Day, random: Random): User {
  const draw = (): User => createUser(knownUsers - Math.floor(knownUsers * random.next() ** 2.5))
  const user = draw()
  return user.plan === undefined && random.chance(0.3) ? draw() : user
}
