/** The fields of an incoming event: their names, JSON types and limits. Collector and loader both derive from here. */
import { DAY_MS, HOUR_MS } from '../lib/time.js'
import { DIMENSION_ROWS } from './dimensions.js'

type FieldType = 'string' | 'boolean' | 'object'

/** The limits of an event. Lengths are in characters (code points). */
export const EVENT_LIMITS = {
  /** The length of the event's name. */
  maxNameLength: 128,
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
} as const

const { earliestTimestamp, endOfTimestamps, maxLeadMs, maxPropertyNameLength } = EVENT_LIMITS
const FIRST_YEAR = earliestTimestamp.getUTCFullYear()
const LAST_YEAR = endOfTimestamps.getUTCFullYear() - 1

/** The messages that collector and loader report for values beyond these limits. Each follows the name of a field. */
export const LIMIT_MESSAGES = {
  timestampOutOfRange: `must lie between the years ${FIRST_YEAR} and ${LAST_YEAR}`,
  timestampTooFarAhead: `must be at most ${maxLeadMs / HOUR_MS} hours ahead of its arrival`,
  propertyNameLength: `names must have 1 to ${maxPropertyNameLength} characters`,
} as const

/** The attributes that all events of a session share: each with its column in `events` and `sessions`, and its field. */
export const SESSION_ATTRIBUTES = DIMENSION_ROWS.flatMap(({ eventColumn, eventField }) =>
  eventField === undefined ? [] : [{ column: eventColumn, field: eventField }],
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
