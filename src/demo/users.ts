/** The users of the demo: what stays the same about each, known from the number alone. */
import { chooseDevice, type Device } from './devices.js'
import { choosePlace, type Place } from './places.js'
import { createRandom, type Random } from './random.js'
import type { Day } from './traffic.js'
import { chooser } from './weighted.js'

export interface User {
  readonly number: number
  readonly id: string
  readonly place: Place
  readonly device: Device
  /** The membership that the user takes on the first visit; absent for those who stay anonymous. */
  readonly plan?: string
}

const SEED = 2
const MEMBERS = 0.16

const choosePlan = chooser([
  { plan: 'free', weight: 62 },
  { plan: 'plus', weight: 27 },
  { plan: 'pro', weight: 11 },
])

export function userOf(number: number): User {
  const random = createRandom(SEED, number)
  const place = choosePlace(random)
  const device = chooseDevice(random)
  const plan = random.chance(MEMBERS) ? { plan: choosePlan(random).plan } : {}
  return { number, id: `u${String(number).padStart(7, '0')}`, place, device, ...plan }
}

/** One of those who had come before: mostly of late, and rather a member. */
export function returningUser({ knownUsers }: Day, random: Random): User {
  const draw = (): User => userOf(knownUsers - Math.floor(knownUsers * random.next() ** 2.5))
  const user = draw()
  return user.plan === undefined && random.chance(0.3) ? draw() : user
}
