/** SQL that converts a typed value to the JSON of an event. `../event-line.ts` does the same for cells of text. */
import { sql, string, type Sql } from '../../../../clickhouse/sql.js'
import { toOneLineSql } from '../../../inbox/line-marks.js'
import type { Target } from '../mapping.js'
import { UNIX_TIME, type ReadOptions } from '../event-line.js'

/** Options of reading a typed value. */
export interface ColumnarOptions extends ReadOptions {
  /** Whether timestamps of a type without a zone are written without one; otherwise they are in UTC. */
  readonly keepsZoneless: boolean
}

/** The kinds of ClickHouse types; no field can hold a value of kind `other`. */
type Kind = 'moment' | 'number' | 'boolean' | 'text' | 'object' | 'other'

const KINDS: readonly (readonly [RegExp, Kind])[] = [
  [/^Date/, 'moment'],
  [/^(U?Int|Float|BFloat|Decimal)/, 'number'],
  [/^Bool/, 'boolean'],
  [/^(String|FixedString|UUID|IPv|Enum)/, 'text'],
  [/^(Map|Tuple|JSON)/, 'object'],
]

const stripType = (type: string): string =>
  type.replace(/^LowCardinality\(/, '').replace(/^Nullable\(/, '')

/** Returns the kind of a ClickHouse type. */
function classifyType(type: string): Kind {
  const bare = stripType(type)
  return KINDS.find(([pattern]) => pattern.test(bare))?.[1] ?? 'other'
}

/** Whether values of a type are moments of a clock whose zone is not known: dates, and times without a zone. */
export const isZoneless = (type: string): boolean =>
  /^Date(?:32|Time|Time64\(\d\))?\)*$/.test(stripType(type))

/** Builds the JSON of a value as a String that is never NULL; an absent value is `null`. */
export function buildJsonSql(
  target: Target,
  type: string,
  value: Sql,
  options: ColumnarOptions,
): Sql {
  const isTimestamp = target.kind === 'field' && target.name === 'timestamp'
  const json =
    isTimestamp && options.keepsZoneless && isZoneless(type)
      ? quote(formatIsoWithoutZone(value))
      : convertByTarget(target, classifyType(type), value, options)
  return sql`ifNull(${json}, 'null')`
}

function convertByTarget(
  target: Target,
  kind: Kind,
  value: Sql,
  { hasForeignNames }: ReadOptions,
): Sql {
  if (target.kind === 'property') {
    if (kind === 'moment') return quote(formatIso(value))
    return kind === 'text' ? quote(readText(value)) : sql`toJSONString(${value})`
  }
  switch (target.name) {
    case 'timestamp':
      return convertTimestamp(kind, value, hasForeignNames)
    case 'anonymous':
      return convertBoolean(kind, value)
    case 'properties':
      return convertObject(kind, value)
    case 'referrer':
    case 'referrer_url':
      return convertText(kind, value, hasForeignNames ? sql`('', '-', 'direct')` : sql`('')`)
    default:
      return convertText(kind, value, sql`('')`)
  }
}

/** Converts to a JSON string; booleans, objects and other kinds keep their JSON type, and the loader rejects them. */
function convertText(kind: Kind, value: Sql, absent: Sql): Sql {
  switch (kind) {
    case 'moment':
      return quote(formatIso(value))
    case 'number':
      return quote(sql`toString(${value})`)
    case 'text':
      return sql`if(${readText(value)} IN ${absent}, 'null', ${quote(readText(value))})`
    case 'boolean':
    case 'object':
    case 'other':
      return sql`toJSONString(${value})`
  }
}

function convertTimestamp(kind: Kind, value: Sql, hasForeignNames: boolean): Sql {
  if (kind === 'number') return convertUnixTime(sql`toFloat64(${value})`, sql`toString(${value})`)
  if (kind !== 'text' || !hasForeignNames) return convertText(kind, value, sql`('')`)
  const text = readText(value)
  return sql`if(match(${text}, ${string(UNIX_TIME.source)}), ${convertUnixTime(sql`toFloat64OrZero(${text})`, text)}, ${convertText(kind, value, sql`('')`)})`
}

/** The milliseconds that ClickHouse has dates for: from 1900-01-01 to 2299-12-31. */
const IN_DATE_RANGE = sql`BETWEEN -2208988800000 AND 10413791999000`

/** Reads seconds, or milliseconds above 1e11; a number beyond the range of dates keeps its text. */
function convertUnixTime(number: Sql, text: Sql): Sql {
  const milliseconds = sql`round(if(abs(${number}) > 1e11, ${number}, ${number} * 1000))`
  return quote(
    sql`if(${milliseconds} ${IN_DATE_RANGE},
      ${formatIso(sql`fromUnixTimestamp64Milli(toInt64(if(${milliseconds} ${IN_DATE_RANGE}, ${milliseconds}, 0)), 'UTC')`)}, ${text})`,
  )
}

function convertBoolean(kind: Kind, value: Sql): Sql {
  if (kind === 'number') {
    return sql`multiIf(${value} = 0, 'false', ${value} = 1, 'true', toJSONString(${value}))`
  }
  if (kind !== 'text') return sql`toJSONString(${value})`
  const text = sql`lower(${readText(value)})`
  return sql`multiIf(${text} = '', 'null', ${text} IN ('true', '1'), 'true', ${text} IN ('false', '0'), 'false', ${quote(readText(value))})`
}

/** Text must be the JSON of an object; entries of a map or struct that are null are left out. */
function convertObject(kind: Kind, value: Sql): Sql {
  if (kind === 'text') {
    const text = readText(value)
    return sql`multiIf(${text} = '', 'null', isValidJSON(${text}) AND JSONType(${text}) = 'Object', trim(${toOneLineSql(text)}), ${quote(text)})`
  }
  if (kind !== 'object') return sql`toJSONString(${value})`
  return sql`concat('{', arrayStringConcat(arrayMap(pair -> concat(toJSONString(pair.1), ':', pair.2),
    arrayFilter(pair -> pair.2 != 'null', JSONExtractKeysAndValuesRaw(toJSONString(${value})))), ','), '}')`
}

const formatIso = (moment: Sql): Sql =>
  sql`formatDateTime(toDateTime64(${moment}, 3, 'UTC'), '%FT%T.%fZ', 'UTC')`

const formatIsoWithoutZone = (moment: Sql): Sql =>
  sql`formatDateTime(toDateTime64(${moment}, 3, 'UTC'), '%FT%T.%f', 'UTC')`

/** Reads a value as text, without the NULs that pad a FixedString. */
const readText = (value: Sql): Sql => sql`replaceRegexpOne(toString(${value}), '\\\\0+$', '')`

const quote = (value: Sql): Sql => sql`toJSONString(${value})`
