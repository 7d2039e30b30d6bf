/** What makes a row unfit to load, and what its sender is told. */
import { join, sql, string, strings, type Sql } from '../../../clickhouse/sql.js'
import { FIELDS } from '../../../model/event-fields.js'
import { jsonField } from './json-fields.js'

const ISO_8601 = string(
  String.raw`^[1-9]\d{3}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]([01]\d|2[0-3]):?[0-5]\d)$`,
)
/** A NUL as JSON must write it: its backslash is the last of an odd number. */
const NUL = string(String.raw`(^|[^\\])(\\\\)*\\u0000`)
/** Beyond 64 bits, or perhaps beyond a double: JSON that is valid, but cannot be read. */
const HUGE_NUMBER = string(String.raw`[0-9]{19}|[0-9][eE]\+?[0-9]{3}`)
const COUNTRY = string('^[A-Z]{2}$')

/** What is said of a line that is no object; of the rest of it nothing is known then. */
const NOT_AN_OBJECT = sql`multiIf(
    isValidJSON(line), 'is not a JSON object',
    NOT isValidUTF8(line), 'is not valid UTF-8',
    match(line, ${HUGE_NUMBER}), 'is not valid JSON, or holds a number that is too large',
    'is not valid JSON')`

/** Each fault of a value: when a row has it, and its message. `known` is the row's project. */
const VALUE_FAULTS: readonly (readonly [when: Sql, message: Sql])[] = [
  [sql`named_project = ''`, sql`'project: is required where no project is named for all rows'`],
  [
    sql`named_project != '' AND known.id = ''`,
    sql`concat('project: there is no project ', named_project)`,
  ],
  [sql`${jsonField('timestamp')} = '' AND NOT is_timed_by_arrival`, sql`'timestamp: is required'`],
  [
    sql`${jsonField('timestamp')} != '' AND (at IS NULL OR NOT match(${jsonField('timestamp')}, ${ISO_8601}))`,
    sql`'timestamp: must be ISO 8601 with Z or an offset, as 2026-01-31T10:00:00.000Z'`,
  ],
  [
    sql`ifNull(at < toDateTime64('1970-01-01 00:00:00', 3, 'UTC') OR at >= toDateTime64('2100-01-01 00:00:00', 3, 'UTC'), false)`,
    sql`'timestamp: must lie between the years 1970 and 2099'`,
  ],
  [
    sql`ifNull(at > received_at + INTERVAL 24 HOUR AND at < toDateTime64('2100-01-01 00:00:00', 3, 'UTC'), false)`,
    sql`'timestamp: must be at most 24 hours ahead of its arrival'`,
  ],
  [
    sql`(${jsonField('name')} = '' AND has(pairs.1, 'name') AND NOT has(pairs, ('name', 'null'))) OR lengthUTF8(${jsonField('name')}) > 128`,
    sql`'name: must have 1 to 128 characters'`,
  ],
  [
    sql`${jsonField('url')} != '' AND empty(url_parts)`,
    sql`'url: must be absolute, as https://example.com/path'`,
  ],
  [
    sql`${jsonField('country')} != '' AND NOT match(${jsonField('country')}, ${COUNTRY})`,
    sql`'country: must be an ISO 3166-1 alpha-2 code, as DE'`,
  ],
  [
    sql`${jsonField('ip')} != '' AND toIPv6OrNull(${jsonField('ip')}) IS NULL`,
    sql`'ip: must be an IP address'`,
  ],
  [sql`length(property_pairs) > 64`, sql`'properties: must have at most 64 entries'`],
  [
    sql`arrayExists(pair -> pair.1 = '' OR lengthUTF8(pair.1) > 128, property_pairs)`,
    sql`'properties: names must have 1 to 128 characters'`,
  ],
  [
    sql`position(line, '\\\\u0000') > 0 AND match(line, ${NUL})`,
    sql`'must not contain the character NUL'`,
  ],
]

const TYPE_WORDS = { string: 'a string', boolean: 'a boolean', object: 'an object' } as const
const FIRST_CHARACTERS = { string: ['"'], boolean: ['t', 'f'], object: ['{'] } as const
const NAMES = strings([...FIELDS.keys()])
const TYPES = strings([...FIELDS.values()].map((type) => TYPE_WORDS[type]))

const expected = (name: Sql): Sql => sql`transform(${name}, ${NAMES}, ${TYPES}, '')`
/** What a raw JSON value is, from its first character. */
const actual = (value: Sql): Sql =>
  sql`transform(substring(${value}, 1, 1), ['"', 't', 'f', '{', 'n'], ['a string', 'a boolean', 'a boolean', 'an object', 'null'], 'else')`

/** Unknown fields and wrong types; null is taken for absent. */
const TYPE_FAULTS = sql`arrayMap(
    pair -> concat(pair.1, if(${expected(sql`pair.1`)} = '', ': is not a known field', concat(': must be ', ${expected(sql`pair.1`)}))),
    arrayFilter(pair -> ${expected(sql`pair.1`)} = '' OR ${actual(sql`pair.2`)} NOT IN (${expected(sql`pair.1`)}, 'null'), pairs))`

/** For each fault of a value whether the row has it, in `broken`. */
export const VIOLATIONS = sql`[${join(VALUE_FAULTS.map(([when]) => when))}]`

/** Field names with the first character of a value that they may have: of most rows all is said by it. */
const SOUND = strings(
  [...FIELDS].flatMap(([name, type]) =>
    ['n', ...FIRST_CHARACTERS[type]].map((first) => `${name} ${first}`),
  ),
)

/** Of a field of the wrong type that is all there is to say. */
const VALUE_MESSAGES = sql`arrayFilter(
      (message, is_so) -> is_so AND NOT arrayExists(fault -> startsWith(fault, substring(message, 1, position(message, ':'))), type_faults),
      [${join(VALUE_FAULTS.map(([, message]) => message))}],
      broken)`

/** All faults of a row, each in plain words; empty where it is fit. `broken` is as above. */
export const REJECTION_REASONS = sql`multiIf(
    fault != '', [fault],
    empty(pairs) AND JSONType(line) != 'Object', [${NOT_AN_OBJECT}],
    NOT has(broken, true) AND arrayAll(pair -> concat(pair.1, ' ', substring(pair.2, 1, 1)) IN ${SOUND}, pairs), emptyArrayString(),
    arrayConcat(${TYPE_FAULTS} AS type_faults, ${VALUE_MESSAGES}))`
