/** The fields of an incoming event: their names, JSON types and limits. Collector and loader both derive from here. */
import { DAY_MS, HOUR_MS } from '../lib/time.js'
import { DIMENSIONS } from './dimensions.js'

type FieldType = 'string' | 'boolean' | 'object'

/** What an event may hold at most. Lengths are in characters (code points). */
export const EVENT_LIMITS = {
  /** Of the name of an event. */
  maxNameLength: 128,
  maxProperties: 64,
  maxPropertyNameLength: 128,
  /** How deep the value of a property may be nested. */
  maxPropertyDepth: 100,
  /** Longer texts are stored up to here: what is returned as a group can always be sent back in a filter. */
  maxStoredLength: 1024,
  /** The first moment that an event may have, and the first that is too late. */
  earliestTimestamp: new Date(Date.UTC(1970, 0)),
  endOfTimestamps: new Date(Date.UTC(2100, 0)),
  /** How far an event may lie ahead of its arrival. */
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

/** The attributes that all events of a session share: the columns of `events` and `sessions`, with their fields. */
export const SESSION_ATTRIBUTES = Object.values(DIMENSIONS).flatMap(
  ({ eventColumn, eventField }) =>
    eventField === undefined ? [] : [{ column: eventColumn, field: eventField }],
)

/** The fields of utm values. URLs give them in parameters of the same names. */
export const UTM_FIELDS: readonly string[] = SESSION_ATTRIBUTES.map(({ field }) => field).filter(
  (field) => field.startsWith('utm_'),
)

/** All fields that an event may have, each optional; `timestamp` may be left out only where arrival stands in for it. */
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

/** The ClickHouse type that JSONExtract reads all fields into; an absent text is empty. */
export const FIELDS_TYPE = `Tuple(${[...FIELDS]
  .map(([name, type]) => `${name} ${COLUMN_TYPES[type]}`)
  .join(', ')})`
