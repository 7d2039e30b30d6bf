/** Remembers for some seconds what a store says about a name, such as an API key or a public token. */
import { LRUCache } from 'lru-cache'
import { mapRecord } from './records.js'
import { SECOND_MS } from './time.js'

/**
 * How long a response is used without asking again, in milliseconds from the start of its lookup. A lookup may take as long: a
 * store that is slow is no reason to refuse anybody.
 */
export const FRESH_MS = 4 * SECOND_MS

/**
 * Looks names up, and remembers the responses by these rules:
 *
 * - A response is used for less than `FRESH_MS`, also one that there is no such name. Its age counts from the start of the lookup.
 * - Then it is looked up again, and the caller waits. Only with `staleMs` is a value that was found still used, while it is
 *   looked up again and while the store fails, until it is `staleMs` old.
 * - Calls for one name share the lookup that runs, and its response, however long it took.
 * - A failure is not remembered: it rejects the calls that wait, and the next call asks again.
 * - Values that were found and names that were not have limits of their own, so made-up names evict no value.
 * - With `lanes`, few lookups run at once, and unknown names take no place of known ones.
 */
export interface Lookups<Value> {
  /**
   * Finds the value of a name; undefined if there is none.
   *
   * @param read asks the store. It is given the time at which it starts, by the clock of the lookups
   * @throws the error of `read`, or of `lanes.refuse`
   */
  readonly find: (name: string, read: Read<Value>) => Promise<Value | undefined>
  /** Returns what was found last, however long ago; undefined if nothing was. Good enough to refuse a request, not to serve it. */
  readonly recall: (name: string) => Value | undefined
}

type Read<Value> = (begunAt: number) => Promise<Value | undefined>

export interface LookupOptions<Lane extends string> {
  /** Returns milliseconds, and never goes back. */
  readonly now: () => number
  /** How many values are remembered. */
  readonly maxFound: number
  /** How many names without a value are remembered; with 0, these are looked up each time. */
  readonly maxMissing: number
  /** How old a value may be that is used without waiting for the store, in milliseconds; by default only fresh ones are. */
  readonly staleMs?: number
  /** Limits the lookups that run at once; left out where strangers cannot cause them. */
  readonly lanes?: Lanes<Lane>
}

interface Lanes<Lane extends string> {
  /** How many lookups may run at once: of names with a remembered value, and of others by their lane. */
  readonly places: Readonly<Record<Lane | 'known', number>>
  /** Chooses the lane of a name without a remembered value. */
  readonly choose: (name: string) => Lane
  /** How many lookups may wait for a place of a lane. None runs after it has waited for more than `FRESH_MS`. */
  readonly maxWaiting: number
  /** Creates the error of a lookup that gets no place. */
  readonly refuse: () => Error
}

interface Found<Value> {
  readonly value: Value
  readonly begunAt: number
}

/** Creates lookups that follow the rules of `Lookups`. */
export function createLookups<Value, Lane extends string = never>(
  options: LookupOptions<Lane>,
): Lookups<Value> {
  const { now, maxFound, maxMissing, staleMs = FRESH_MS, lanes } = options
  const found = new LRUCache<string, Found<Value>>({ max: maxFound })
  const missing = maxMissing === 0 ? undefined : new LRUCache<string, number>({ max: maxMissing })
  const running = new Map<string, Promise<Value | undefined>>()
  const enter = lanes === undefined ? undefined : createEntrance(lanes, now)

  const ask = async (name: string, read: Read<Value>): Promise<Value | undefined> => {
    const begunAt = now()
    const value = await read(begunAt)
    if (value === undefined) {
      found.delete(name)
      missing?.set(name, begunAt)
    } else {
      found.set(name, { value, begunAt })
    }
    return value
  }
  const lookUp = (name: string, read: Read<Value>): Promise<Value | undefined> => {
    const shared = running.get(name)
    if (shared !== undefined) return shared
    const work = () => ask(name, read)
    const asked = enter === undefined ? work() : enter(name, found.has(name), work)
    const lookup = asked.finally(() => running.delete(name))
    running.set(name, lookup)
    return lookup
  }
  const getAge = (begunAt = -Infinity): number => now() - begunAt

  return {
    find: async (name, read) => {
      const known = found.get(name)
      const age = getAge(known === undefined ? missing?.get(name) : known.begunAt)
      if (age < FRESH_MS) return known?.value
      const lookup = lookUp(name, read)
      if (known === undefined || age >= staleMs) return lookup
      lookup.catch(() => undefined)
      return known.value
    },
    recall: (name) => found.peek(name)?.value,
  }
}

type Lane = <T>(work: () => Promise<T>) => Promise<T>

/** Sends the lookups of known names and of others through lanes of their own. */
function createEntrance<Name extends string>(
  { places, choose, maxWaiting, refuse }: Lanes<Name>,
  now: () => number,
): <T>(name: string, isKnown: boolean, work: () => Promise<T>) => Promise<T> {
  const lanes = mapRecord(places, (_, count) => createLane(count, maxWaiting, refuse, now))
  return (name, isKnown, work) => lanes[isKnown ? 'known' : choose(name)](work)
}

/** Creates a lane with some places. Work that finds none free waits for one, but not longer than a lookup may take. */
function createLane(
  places: number,
  maxWaiting: number,
  refuse: () => Error,
  now: () => number,
): Lane {
  let free = places
  const waiting: (() => void)[] = []
  return async (work) => {
    const begunAt = now()
    if (free > 0) free -= 1
    else if (waiting.length < maxWaiting) await new Promise<void>((go) => waiting.push(go))
    else throw refuse()
    try {
      if (now() - begunAt > FRESH_MS) throw refuse()
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) free += 1
      else next()
    }
  }
}
