/** Validates the rules of the collector's contract that its schema cannot express: timestamps and properties. */
import { parseInstant } from '../../contract/timestamps.js'
import { EVENT_LIMITS, LIMIT_MESSAGES } from '../../model/event-fields.js'
import { validateProperties, type FieldError } from './validate-properties.js'

/** An error of a field of one event. */
export interface EventError extends FieldError {
  /** The position of the event in the request, counted from 0. */
  readonly index: number
}

const { earliestTimestamp, endOfTimestamps, maxLeadMs, maxProperties } = EVENT_LIMITS

/**
 * Returns the errors of events. Events of any shape are taken; where they do not follow the schema, the schema's
 * validator reports the error.
 *
 * @param now the time of arrival of the events
 */
export const validateEvents = (events: readonly unknown[], now: Date): readonly EventError[] =>
  events.flatMap((event, index) =>
    typeof event === 'object' && event !== null
      ? validateEvent(event, now).map((error) => ({ index, ...error }))
      : [],
  )

interface UncheckedEvent {
  readonly timestamp?: unknown
  readonly properties?: unknown
}

function validateEvent({ timestamp, properties }: UncheckedEvent, now: Date): FieldError[] {
  const message = typeof timestamp === 'string' ? validateTimestamp(timestamp, now) : undefined
  return [
    ...(message === undefined ? [] : [{ field: 'timestamp', message }]),
    ...(canValidateProperties(properties) ? validateProperties(properties) : []),
  ]
}

function validateTimestamp(timestamp: string, now: Date): string | undefined {
  const at = parseInstant(timestamp)
  if (at === undefined) return undefined
  if (at < earliestTimestamp.getTime() || at >= endOfTimestamps.getTime()) {
    return LIMIT_MESSAGES.timestampOutOfRange
  }
  return at > now.getTime() + maxLeadMs ? LIMIT_MESSAGES.timestampTooFarAhead : undefined
}

/** Whether it is an object with as many properties as the schema allows; otherwise the schema reports the error. */
const canValidateProperties = (properties: unknown): properties is object =>
  typeof properties === 'object' &&
  properties !== null &&
  !Array.isArray(properties) &&
  Object.keys(properties).length <= maxProperties
