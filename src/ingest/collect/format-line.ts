/** Writes an event as the line that the inbox stores, within the size that the contract allows. */
import type { SentEvent } from '../../contract/collector-api.js'
import { takeCharacters } from '../../lib/text.js'
import { EVENT_LIMITS } from '../../model/event-fields.js'

const { maxEventBytes, maxStoredLength } = EVENT_LIMITS

/**
 * Returns the line of a validated event; undefined if the event is too large. The texts of a large event are truncated
 * here, as the loader would truncate them.
 */
export function formatLine(event: SentEvent): string | undefined {
  const line = JSON.stringify(event)
  if (!isTooLarge(line)) return line
  const shortened = JSON.stringify(truncateTexts(event))
  return isTooLarge(shortened) ? undefined : shortened
}

/** A UTF-16 unit has at most three bytes in UTF-8, so most lines need not be measured. */
const isTooLarge = (line: string): boolean =>
  line.length * 3 > maxEventBytes && Buffer.byteLength(line) > maxEventBytes

/** The loader reads parts of these fields before it truncates them. */
const WHOLE_FIELDS: ReadonlySet<string> = new Set(['url', 'referrer_url'])

function truncateTexts({ properties, ...fields }: SentEvent): SentEvent {
  const texts = Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === 'string' && !WHOLE_FIELDS.has(name) ? truncate(value) : value,
  ])
  return {
    ...Object.fromEntries(texts),
    ...(properties && { properties: truncateValues(properties) }),
  } as SentEvent
}

/** A value that is not a string is stored as its JSON text, so a long one can be sent as its truncated text. */
function truncateValues(properties: NonNullable<SentEvent['properties']>): object {
  const values = Object.entries(properties).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return [name, text.length > maxStoredLength ? truncate(text) : value]
  })
  return Object.fromEntries(values) as object
}

const truncate = (text: string): string => takeCharacters(text, maxStoredLength)
