/** The rules of events that the contract states in words: when they were, and what their properties hold. */
import { validateProperties, type FieldError } from './validate-properties.js'
import { parseInstant } from '../../contract/timestamps.js'

/** A fault of an event of a request. */
export interface EventError extends FieldError {
  /** The place of the event, counted from 0. */
  readonly index: number
}

const MOST_PROPERTIES = 64
const EARLIEST = Date.UTC(1970, 0)
const END = Date.UTC(2100, 0)
const LEAD = 86_400_000

const OUT_OF_TIME = 'must lie between the years 1970 and 2099'
const TOO_FAR_AHEAD = 'must be at most 24 hours ahead of its arrival'

/**
 * The faults of events that may be anything; what the schema of the contract says is checked elsewhere.
 *
 * @param now when the events arrived
 */
export const validateEvents = (events: readonly unknown[], now: Date): readonly EventError[] =>
  events.flatMap((event, index) =>
    typeof event === 'object' && event !== null
      ? faultsOf(event, now).map((fault) => ({ index, ...fault }))
      : [],
  )

interface Unchecked {
  readonly timestamp?: unknown
  readonly properties?: unknown
}

function faultsOf({ timestamp, properties }: Unchecked, now: Date): readonly FieldError[] {
  const message = typeof timestamp === 'string' ? faultOfTime(timestamp, now) : undefined
  const ofTime = message === undefined ? [] : [{ field: 'timestamp', message }]
  if (typeof properties !== 'object' || properties === null) return ofTime
  const isChecked = !Array.isArray(properties) && !hasMore(properties, MOST_PROPERTIES)
  return isChecked ? [...ofTime, ...validateProperties(properties)] : ofTime
}

function faultOfTime(timestamp: string, now: Date): string | undefined {
  const at = parseInstant(timestamp)
  if (at === undefined) return undefined
  if (at < EARLIEST || at >= END) return OUT_OF_TIME
  return at > now.getTime() + LEAD ? TOO_FAR_AHEAD : undefined
}

const hasMore = (properties: object, most: number): boolean => Object.keys(properties).length > most
