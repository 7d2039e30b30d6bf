/** The fields of an incoming event: their names and JSON types. */
import { DIMENSIONS } from './dimensions.js'

type FieldType = 'string' | 'boolean' | 'object'

/** What every session has one value of: the columns of `events` and `sessions`, with their fields. */
export const SESSION_ATTRIBUTES = Object.values(DIMENSIONS).flatMap(
  ({ eventColumn, eventField }) =>
    eventField === undefined ? [] : [{ column: eventColumn, field: eventField }],
)

/** Everything a sender may say of an event. All are optional but `timestamp`. */
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
