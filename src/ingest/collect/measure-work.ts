/** Estimates the work of loading events. Most of it is done per value: each is a group of the rollups. */
import type { SentEvent } from '../../contract/collector-api.js'

/** The bytes of events that are as much work as one value. */
export const BYTES_PER_VALUE = 256

/** An event is this much work beside its values. */
const VALUES_PER_EVENT = 1

/** The fields that make no group. */
const UNCOUNTED: ReadonlySet<string> = new Set(['event_id', 'timestamp', 'properties'])

/** The fields whose values are more work than others: a user agent is classified in this process. */
const WEIGHTS: ReadonlyMap<string, number> = new Map([['user_agent', 10]])

/**
 * Estimates the work of loading the events of one request. Each different value of a field or property counts as one, and so does each
 * event, and each 256 bytes.
 *
 * @param bytes the size of the events as JSON
 */
export function measureWork(events: readonly SentEvent[], bytes: number): number {
  const fields = createValueCounter((field) => WEIGHTS.get(field) ?? 1)
  const properties = createValueCounter(() => 1)
  for (const event of events) {
    for (const [field, value] of Object.entries(event)) {
      if (!UNCOUNTED.has(field)) fields.add(field, value)
    }
    for (const [name, value] of Object.entries(event.properties ?? {})) properties.add(name, value)
  }
  const values = fields.read() + properties.read() + VALUES_PER_EVENT * events.length
  return values + Math.floor(bytes / BYTES_PER_VALUE)
}

/** Counts the different values of each name. A list or an object always counts, because comparing it costs too much. */
function createValueCounter(weigh: (name: string) => number) {
  const known = new Map<string, Set<unknown>>()
  let count = 0
  return {
    add: (name: string, value: unknown): void => {
      let values = known.get(name)
      if (values === undefined) known.set(name, (values = new Set()))
      const { size } = values
      if (values.add(value).size > size) count += weigh(name)
    },
    read: () => count,
  }
}
