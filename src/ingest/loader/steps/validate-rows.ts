/**
 * SQL that finds invalid rows, with the reasons that are reported to the sender. `collect/` and the collector's schema
 * apply the same limits to requests.
 */
import { join, sql, string, strings, time, uint32, type Sql } from '../../../clickhouse/sql.js'
import { EVENT_LIMITS, FIELDS, LIMIT_MESSAGES } from '../../../model/event-fields.js'

/** Reads a field of the event from `given`, the tuple of its fields; an empty string when it is absent. */
export const readField = (field: string): Sql => sql`tupleElement(given, ${string(field)})`

const ISO_8601 = string(
  String.raw`^[1-9]\d{3}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]([01]\d|2[0-3]):?[0-5]\d)$`,
)
/** An escaped NUL in JSON (RFC 8259 §7): its backslash is the last of an odd number of backslashes. */
const NUL = string(String.raw`(^|[^\\])(\\\\)*\\u0000`)
/** A number beyond 64 bits, or perhaps beyond a double: valid JSON that ClickHouse cannot parse. */
const HUGE_NUMBER = string(String.raw`[0-9]{19}|[0-9][eE]\+?[0-9]{3}`)
const COUNTRY = string('^[A-Z]{2}$')

/** The reason to reject a line that is not an object, and so has no fields to validate. */
const NOT_AN_OBJECT = sql`multiIf(
    isValidJSON(line), 'is not a JSON object',
    NOT isValidUTF8(line), 'is not valid UTF-8',
    match(line, ${HUGE_NUMBER}), 'is not valid JSON, or holds a number that is too large',
    'is not valid JSON')`

const {
  maxEventBytes,
  maxIdLength,
  maxUrlLength,
  maxNameLength,
  maxProperties,
  maxPropertyNameLength,
  earliestTimestamp,
  endOfTimestamps,
  maxLeadMs,
} = EVENT_LIMITS

/** A rule for the value of a field: whether a row violates it, and the message if it does. */
interface ValueRule {
  readonly isViolated: Sql
  readonly message: Sql
}

const requireMaxLength = (field: string, maxLength: number): ValueRule => ({
  isViolated: sql`lengthUTF8(${readField(field)}) > ${uint32(maxLength)}`,
  message: string(`${field}: must have at most ${maxLength} characters`),
})

/** The rules for values; `known` is the project of the row. */
const VALUE_RULES: readonly ValueRule[] = [
  {
    isViolated: sql`length(line) > ${uint32(maxEventBytes)}`,
    message: string(LIMIT_MESSAGES.eventTooLarge),
  },
  {
    isViolated: sql`named_project = ''`,
    message: sql`'project: is required where no project is named for all rows'`,
  },
  {
    isViolated: sql`named_project != '' AND known.id = ''`,
    message: sql`concat('project: there is no project ', named_project)`,
  },
  {
    isViolated: sql`${readField('timestamp')} = '' AND NOT is_timed_by_arrival`,
    message: sql`'timestamp: is required'`,
  },
  {
    isViolated: sql`${readField('timestamp')} != '' AND (at IS NULL OR NOT match(${readField('timestamp')}, ${ISO_8601}))`,
    message: sql`'timestamp: must be ISO 8601 with Z or an offset, as 2026-01-31T10:00:00.000Z'`,
  },
  {
    isViolated: sql`ifNull(at < ${time(earliestTimestamp)} OR at >= ${time(endOfTimestamps)}, false)`,
    message: string(`timestamp: ${LIMIT_MESSAGES.timestampOutOfRange}`),
  },
  {
    isViolated: sql`ifNull(at > received_at + toIntervalMillisecond(${uint32(maxLeadMs)}) AND at < ${time(endOfTimestamps)}, false)`,
    message: string(`timestamp: ${LIMIT_MESSAGES.timestampTooFarAhead}`),
  },
  {
    isViolated: sql`(${readField('name')} = '' AND has(pairs.1, 'name') AND NOT has(pairs, ('name', 'null'))) OR lengthUTF8(${readField('name')}) > ${uint32(maxNameLength)}`,
    message: string(`name: must have 1 to ${maxNameLength} characters`),
  },
  ...['user_id', 'session_id', 'event_id'].map((field) => requireMaxLength(field, maxIdLength)),
  ...['url', 'referrer_url'].map((field) => requireMaxLength(field, maxUrlLength)),
  {
    isViolated: sql`${readField('url')} != '' AND empty(url_parts)`,
    message: sql`'url: must be absolute, as https://example.com/path'`,
  },
  {
    isViolated: sql`${readField('country')} != '' AND NOT match(${readField('country')}, ${COUNTRY})`,
    message: sql`'country: must be an ISO 3166-1 alpha-2 code, as DE'`,
  },
  {
    isViolated: sql`${readField('ip')} != '' AND toIPv6OrNull(${readField('ip')}) IS NULL`,
    message: sql`'ip: must be an IP address'`,
  },
  {
    isViolated: sql`length(property_pairs) > ${uint32(maxProperties)}`,
    message: string(`properties: must have at most ${maxProperties} entries`),
  },
  {
    isViolated: sql`arrayExists(pair -> pair.1 = '' OR lengthUTF8(pair.1) > ${uint32(maxPropertyNameLength)}, property_pairs)`,
    message: string(`properties: ${LIMIT_MESSAGES.propertyNameLength}`),
  },
  {
    isViolated: sql`position(line, '\\\\u0000') > 0 AND match(line, ${NUL})`,
    message: sql`'must not contain the character NUL'`,
  },
]

const TOO_MANY_USERS = sql`'user_id: the project has the most users that it can have, 4294967295'`

/** The rule for the age of an event of the stream. The collector checks its own events, and pages more strictly. */
const requireMaxAge = (maxAgeDays: number): ValueRule => ({
  isViolated: sql`ifNull(batch = '' AND NOT age_checked AND at >= ${time(earliestTimestamp)} AND at < received_at - toIntervalDay(${uint32(maxAgeDays)}), false)`,
  message: string(`timestamp: ${LIMIT_MESSAGES.timestampTooOld(maxAgeDays)}`),
})

/** Why a row is rejected, in a word: what usage counts. A row may have several faults; the first of these reasons counts. */
export const REJECTIONS = [
  /** It names no project that exists. Such rows are counted without a project. */
  'project',
  /** It is not a JSON object, or the source that it comes from is malformed there. */
  'unreadable',
  /** It is too large. */
  'size',
  /** The project has the most users that it can have. */
  'users',
  /** Its timestamp is missing, invalid, too old or too far ahead. */
  'timestamp',
  /** Another field is unknown or invalid. */
  'field',
  /** The store could not load it. */
  'other',
] as const
export type Rejection = (typeof REJECTIONS)[number]

/** Builds the reason of a row as one of REJECTIONS; empty for a valid row. Reads `faults`, the fields of the row, and `is_unknown`. */
export const CLASSIFY_REJECTION = sql`multiIf(
    empty(faults), '',
    is_unknown, 'project',
    fault != '' OR (empty(pairs) AND JSONType(line) != 'Object'), 'unreadable',
    length(line) > ${uint32(maxEventBytes)}, 'size',
    has(faults, ${TOO_MANY_USERS}), 'users',
    arrayExists(one -> startsWith(one, 'timestamp:'), faults), 'timestamp',
    'field')`

const TYPE_WORDS = { string: 'a string', boolean: 'a boolean', object: 'an object' } as const
const FIRST_CHARACTERS = { string: ['"'], boolean: ['t', 'f'], object: ['{'] } as const
const FIELD_NAMES = strings([...FIELDS.keys()])
const FIELD_TYPES = strings([...FIELDS.values()].map((type) => TYPE_WORDS[type]))

/** Returns the expected type of a field; an empty string for an unknown field. */
const lookUpExpectedType = (name: Sql): Sql =>
  sql`transform(${name}, ${FIELD_NAMES}, ${FIELD_TYPES}, '')`
/** Returns the type of a raw JSON value, by its first character. */
const detectType = (value: Sql): Sql =>
  sql`transform(substring(${value}, 1, 1), ['"', 't', 'f', '{', 'n'], ['a string', 'a boolean', 'a boolean', 'an object', 'null'], 'else')`

/** The messages of unknown fields and wrong types; a null counts as absent. */
const TYPE_MESSAGES = sql`arrayMap(
    pair -> concat(pair.1, if(${lookUpExpectedType(sql`pair.1`)} = '', ': is not a known field', concat(': must be ', ${lookUpExpectedType(sql`pair.1`)}))),
    arrayFilter(pair -> ${lookUpExpectedType(sql`pair.1`)} = '' OR ${detectType(sql`pair.2`)} NOT IN (${lookUpExpectedType(sql`pair.1`)}, 'null'), pairs))`

/** Field names, each with the first character of a valid value: a quick check that most rows pass. */
const VALID_STARTS = strings(
  [...FIELDS].flatMap(([name, type]) =>
    ['n', ...FIRST_CHARACTERS[type]].map((first) => `${name} ${first}`),
  ),
)

/** The messages of violated rules, without those of fields that have the wrong type: one message per field is enough. */
const buildValueMessages = (rules: readonly ValueRule[]): Sql => sql`arrayFilter(
      (message, is_so) -> is_so AND NOT arrayExists(fault -> startsWith(fault, substring(message, 1, position(message, ':'))), type_faults),
      [${join(rules.map(({ message }) => message))}],
      broken)`

/** The expressions that validate a row. */
export interface RowValidation {
  /** An array that holds, for each rule, whether the row violates it; must be selected as `broken`. */
  readonly violations: Sql
  /** The reasons to reject a row; empty for a valid row. Reads `broken`. */
  readonly reasons: Sql
}

/**
 * Builds the validation of rows.
 *
 * @param maxEventAgeDays the age limit for events of the stream
 * @param isUnnumbered whether the user of a row gets no number, because the project has too many users
 */
export function buildValidation(maxEventAgeDays: number, isUnnumbered?: Sql): RowValidation {
  const rules = [
    ...VALUE_RULES,
    requireMaxAge(maxEventAgeDays),
    ...(isUnnumbered === undefined ? [] : [{ isViolated: isUnnumbered, message: TOO_MANY_USERS }]),
  ]
  return {
    violations: sql`[${join(rules.map(({ isViolated }) => isViolated))}]`,
    reasons: buildReasons(buildValueMessages(rules)),
  }
}

const buildReasons = (valueMessages: Sql): Sql => sql`multiIf(
    fault != '', [fault],
    empty(pairs) AND JSONType(line) != 'Object', [${NOT_AN_OBJECT}],
    NOT has(broken, true) AND arrayAll(pair -> concat(pair.1, ' ', substring(pair.2, 1, 1)) IN ${VALID_STARTS}, pairs), emptyArrayString(),
    arrayConcat(${TYPE_MESSAGES} AS type_faults, ${valueMessages}))`
