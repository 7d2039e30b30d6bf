/** Validates the rules of the collector's contract that its schema cannot express: timestamps and properties. */
import { parseInstant } from '../../contract/timestamps.js'
import { DAY_MS } from '../../lib/time.js'
import { EVENT_LIMITS, LIMIT_MESSAGES } from '../../model/event-fields.js'
import { validateProperties, type FieldError } from './validate-properties.js'

/** An error of a field of one event. */
interface EventError extends FieldError {
  /** The position of the event in the request, counted from 0. */
  readonly index: number
}

/** The timestamps that the events of a request may have. */
export interface TimestampWindow {
  /** In milliseconds since 1970; included. */
  readonly from: number
  /** Included. */
  readonly to: number
  /** The messages for timestamps outside. */
  readonly tooOld: string
  readonly tooFarAhead: string
}

const { earliestTimestamp, endOfTimestamps, maxLeadMs, maxPageOffsetMs, maxProperties } =
  EVENT_LIMITS

/**
 * Finds the timestamps that the events of a request may have.
 *
 * @param receivedAt the time of arrival of the request
 * @param sender a page, or the days that the events of a server may be old
 */
export function findTimestampWindow(receivedAt: Date, sender: 'page' | number): TimestampWindow {
  const arrival = receivedAt.getTime()
  if (sender === 'page') {
    const message = LIMIT_MESSAGES.timestampOfPage
    const [from, to] = [arrival - maxPageOffsetMs, arrival + maxPageOffsetMs]
    return { from, to, tooOld: message, tooFarAhead: message }
  }
  return {
    from: arrival - sender * DAY_MS,
    to: arrival + maxLeadMs,
    tooOld: LIMIT_MESSAGES.timestampTooOld(sender),
    tooFarAhead: LIMIT_MESSAGES.timestampTooFarAhead,
  }
}

/**
 * Returns the errors of events. Events of any shape are taken; where they do not follow the schema, the schema's
 * validator reports the error.
 */
export const validateEvents = (
  events: readonly unknown[],
  timestamps: TimestampWindow,
): readonly EventError[] =>
  events.flatMap((event, index) =>
    typeof event === 'object' && event !== null
      ? validateEvent(event, timestamps).map((error) => ({ index, ...error }))
      : [],
  )

interface UncheckedEvent {
  readonly timestamp?: unknown
  readonly properties?: unknown
}

function validateEvent(
  { timestamp, properties }: UncheckedEvent,
  timestamps: TimestampWindow,
): FieldError[] {
  const message =
    typeof timestamp === 'string' ? validateTimestamp(timestamp, timestamps) : undefined
  return [
    ...(message === undefined ? [] : [{ field: 'timestamp', message }]),
    ...(canValidateProperties(properties) ? validateProperties(properties) : []),
  ]
}

function validateTimestamp(
  timestamp: string,
  { from, to, tooOld, tooFarAhead }: TimestampWindow,
): string | undefined {
  const at = parseInstant(timestamp)
  if (at === undefined) return undefined
  if (at < earliestTimestamp.getTime() || at >= endOfTimestamps.getTime()) {
    return LIMIT_MESSAGES.timestampOutOfRange
  }
  if (at < from) return tooOld
  return at > to ? tooFarAhead : undefined
}

/** Whether it is an object with as many properties as the schema allows; otherwise the schema reports the error. */
const canValidateProperties = (properties: unknown): properties is object =>
  typeof properties === 'object' &&
  properties !== null &&
  !Array.isArray(properties) &&
  Object.keys(properties).length <= maxProperties
