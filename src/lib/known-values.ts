/** Remembers for some seconds all values of a kind that a store has, by their names. They are few, and are read together. */
import { setTimeout as sleep } from 'node:timers/promises'
import { FRESH_MS } from './lookups.js'

export interface KnownValues<Value> {
  /**
   * Finds the value of a name. A value that the store has is found at once, even one that was added a moment ago: an unknown name
   * waits for the next reading, which all unknown ones share.
   *
   * @throws the error of the store when the values cannot be read
   */
  find(name: string): Promise<Value | undefined>
  /** Returns whether the store has no value. The first value is noticed at once, as by `find`. @throws the error of the store */
  isEmpty(): Promise<boolean>
}

interface Loaded<Value> {
  readonly values: ReadonlyMap<string, Value>
  /** When the values began to be read, in milliseconds of the clock. */
  readonly readAt: number
}

/** The time from one reading to the next. It limits the load that made-up names can put on the store. */
const MIN_READ_INTERVAL_MS = 250

/** @param clock returns milliseconds */
export function createKnownValues<Value>(
  readAll: () => Promise<ReadonlyMap<string, Value>>,
  clock: () => number = () => performance.now(),
): KnownValues<Value> {
  let loaded: Loaded<Value> = { values: new Map(), readAt: -Infinity }
  let lastReadAt = -Infinity
  let reading: Promise<void> | undefined
  /** The reading that has not begun yet. */
  let next: Promise<void> | undefined

  const read = async (): Promise<void> => {
    const readAt = clock()
    lastReadAt = readAt
    loaded = { values: await readAll(), readAt }
  }
  const readAfterPause = async (): Promise<void> => {
    await reading?.catch(() => undefined)
    const pauseMs = lastReadAt + MIN_READ_INTERVAL_MS - clock()
    if (pauseMs > 0) await sleep(pauseMs)
    next = undefined
    reading = read().finally(() => (reading = undefined))
    await reading
  }
  const readNext = (): Promise<void> => (next ??= readAfterPause())
  const refresh = async (): Promise<void> => {
    if (clock() - loaded.readAt >= FRESH_MS) await (reading ?? readNext())
  }

  return {
    async find(name) {
      const askedAt = clock()
      await refresh()
      if (!loaded.values.has(name) && loaded.readAt < askedAt) await readNext()
      return loaded.values.get(name)
    },
    async isEmpty() {
      const askedAt = clock()
      await refresh()
      if (loaded.values.size === 0 && loaded.readAt < askedAt) await readNext()
      return loaded.values.size === 0
    },
  }
}
