/** The fields of an incoming event: their names, JSON types and limits. Collector and loader both derive from here. */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../lib/time.js'
import { DIMENSION_ROWS } from './dimensions.js'

type FieldType = 'string' | 'boolean' | 'object'

/** The limits of an event. Lengths are in characters (code points). */
export const EVENT_LIMITS = {
  /** The bytes of an event as compact JSON in UTF-8, with what the collector adds. */
  maxEventBytes: 32 * 1024,
  /** The length of the event's name. */
  maxNameLength: 128,
  /** The length of `user_id`, `session_id` and `event_id`. */
  maxIdLength: 256,
  /** The length of `url` and `referrer_url`. */
  maxUrlLength: 8192,
  maxProperties: 64,
  maxPropertyNameLength: 128,
  /** How many levels deep the value of a property may be nested. */
  maxPropertyDepth: 100,
  /** Longer texts are truncated to this length, so that a group of a response can always be sent back in a filter. */
  maxStoredLength: 1024,
  /** Timestamps are valid from `earliestTimestamp` to just before `endOfTimestamps`. */
  earliestTimestamp: new Date(Date.UTC(1970, 0)),
  endOfTimestamps: new Date(Date.UTC(2100, 0)),
  /** How far the timestamp of an event may lie after its arrival. */
  maxLeadMs: DAY_MS,
  /** How far the timestamp of an event from a page may lie before or after its arrival. */
  maxPageOffsetMs: 15 * MINUTE_MS,
} as const

const {
  earliestTimestamp,
  endOfTimestamps,
  maxEventBytes,
  maxLeadMs,
  maxPageOffsetMs,
  maxPropertyNameLength,
} = EVENT_LIMITS
const FIRST_YEAR = earliestTimestamp.getUTCFullYear()
const LAST_YEAR = endOfTimestamps.getUTCFullYear() - 1

/** The messages that collector and loader report for values beyond these limits. Each follows the name of a field. */
export const LIMIT_MESSAGES = {
  timestampOutOfRange: `must lie between the years ${FIRST_YEAR} and ${LAST_YEAR}`,
  timestampTooFarAhead: `must be at most ${maxLeadMs / HOUR_MS} hours ahead of its arrival`,
  /** Follows the age that MAX_EVENT_AGE_DAYS allows. */
  timestampTooOld: (maxAgeDays: number): string =>
    `must be at most ${maxAgeDays} days before its arrival; import older events from a file`,
  timestampOfPage: `must be within ${maxPageOffsetMs / MINUTE_MS} minutes of its arrival if a page sends it; leave it out`,
  eventTooLarge: `must have at most ${maxEventBytes / 1024} kB as JSON`,
  propertyNameLength: `names must have 1 to ${maxPropertyNameLength} characters`,
} as const

/** The attributes that all events of a session share: each with its column in `events` and `sessions`, and its field. */
export const SESSION_ATTRIBUTES = DIMENSION_ROWS.flatMap(({ eventColumn, eventField }) =>
  eventField === undefined || eventColumn === undefined
    ? []
    : [{ column: eventColumn, field: eventField }],
)

/** The fields of UTM values. URLs have them in parameters of the same names. */
export const UTM_FIELDS: readonly string[] = SESSION_ATTRIBUTES.map(({ field }) => field).filter(
  (field) => field.startsWith('utm_'),
)

/** All fields that an event may have. Each is optional; `timestamp` only where the time of arrival replaces it. */
export const FIELDS: ReadonlyMap<string, FieldType> = new Map<string, FieldType>([
  ['timestamp', 'string'],
  ['project', 'string'],
  ['event_id', 'string'],
  ['name', 'string'],
  ['user_id', 'string'],
  ['anonymous', 'boolean'],
  ['session_id', 'string'],
  ['url', 'string'],
  ['origin', 'string'],
  ['path', 'string'],
  ['hash', 'string'],
  ['user_agent', 'string'],
  ['ip', 'string'],
  ['properties', 'object'],
  ...SESSION_ATTRIBUTES.map(({ field }) => [field, 'string'] as const),
])

const COLUMN_TYPES: Readonly<Record<FieldType, string>> = {
  string: 'String',
  boolean: 'Nullable(Bool)',
  object: 'String',
}

/** The ClickHouse type that JSONExtract reads all fields into. An absent text becomes empty. */
export const FIELDS_TYPE = `Tuple(${[...FIELDS]
  .map(([name, type]) => `${name} ${COLUMN_TYPES[type]}`)
  .join(', ')})`
