/** The SQL that makes the JSON of an event's value of a typed one. */
import { sql, string, type Sql } from '../../../../clickhouse/sql.js'
import type { Target } from '../mapping.js'

/** What a type comes to; `other` is what no field can be. */
type Kind = 'moment' | 'number' | 'boolean' | 'text' | 'object' | 'other'

const KINDS: readonly (readonly [RegExp, Kind])[] = [
  [/^Date/, 'moment'],
  [/^(U?Int|Float|BFloat|Decimal)/, 'number'],
  [/^Bool/, 'boolean'],
  [/^(String|FixedString|UUID|IPv|Enum)/, 'text'],
  [/^(Map|Tuple|JSON)/, 'object'],
]

/** What a value of a type of ClickHouse is. */
export function kindOf(type: string): Kind {
  const bare = type.replace(/^LowCardinality\(/, '').replace(/^Nullable\(/, '')
  return KINDS.find(([pattern]) => pattern.test(bare))?.[1] ?? 'other'
}

/** The JSON of a value as text, never NULL: `null` is for one that is absent. */
export function jsonOf(target: Target, type: string, value: Sql, isForeign: boolean): Sql {
  const kind = kindOf(type)
  const json = jsonByKind(target, kind, value, isForeign)
  return sql`ifNull(${json}, 'null')`
}

function jsonByKind(target: Target, kind: Kind, value: Sql, isForeign: boolean): Sql {
  if (target.kind === 'property') {
    if (kind === 'moment') return quoted(iso(value))
    return kind === 'text' ? quoted(textOf(value)) : sql`toJSONString(${value})`
  }
  switch (target.name) {
    case 'timestamp':
      return timestamp(kind, value, isForeign)
    case 'anonymous':
      return anonymous(kind, value)
    case 'properties':
      return properties(kind, value)
    case 'referrer':
    case 'referrer_url':
      return text(kind, value, isForeign ? sql`('', '-', 'direct')` : sql`('')`)
    default:
      return text(kind, value, sql`('')`)
  }
}

/** A field that is a text; numbers and moments have one. */
function text(kind: Kind, value: Sql, absent: Sql): Sql {
  switch (kind) {
    case 'moment':
      return quoted(iso(value))
    case 'number':
      return quoted(sql`toString(${value})`)
    case 'text':
      return sql`if(${textOf(value)} IN ${absent}, 'null', ${quoted(textOf(value))})`
    case 'boolean':
    case 'object':
    case 'other':
      return sql`toJSONString(${value})`
  }
}

function timestamp(kind: Kind, value: Sql, isForeign: boolean): Sql {
  if (kind === 'number') return unixOr(sql`toFloat64(${value})`, sql`toString(${value})`)
  if (kind !== 'text' || !isForeign) return text(kind, value, sql`('')`)
  const written = textOf(value)
  return sql`if(match(${written}, ${NUMBER}), ${unixOr(sql`toFloat64OrZero(${written})`, written)}, ${text(kind, value, sql`('')`)})`
}

const NUMBER = string(String.raw`^-?\d{1,13}(\.\d+)?$`)

/** Seconds, or milliseconds above 1e11; a number that no date has stays as it is written. */
function unixOr(number: Sql, written: Sql): Sql {
  const milliseconds = sql`round(if(abs(${number}) > 1e11, ${number}, ${number} * 1000))`
  return quoted(
    sql`if(${milliseconds} BETWEEN -2208988800000 AND 10413791999000,
      ${iso(sql`fromUnixTimestamp64Milli(toInt64(if(${milliseconds} BETWEEN -2208988800000 AND 10413791999000, ${milliseconds}, 0)), 'UTC')`)}, ${written})`,
  )
}

function anonymous(kind: Kind, value: Sql): Sql {
  if (kind === 'number') {
    return sql`multiIf(${value} = 0, 'false', ${value} = 1, 'true', toJSONString(${value}))`
  }
  if (kind !== 'text') return sql`toJSONString(${value})`
  const written = sql`lower(${textOf(value)})`
  return sql`multiIf(${written} = '', 'null', ${written} IN ('true', '1'), 'true', ${written} IN ('false', '0'), 'false', ${quoted(textOf(value))})`
}

/** Text is that of an object; entries that are null are absent. */
function properties(kind: Kind, value: Sql): Sql {
  if (kind === 'text') {
    const written = textOf(value)
    return sql`multiIf(${written} = '', 'null', isValidJSON(${written}) AND JSONType(${written}) = 'Object', trim(${inOneLineSql(written)}), ${quoted(written)})`
  }
  if (kind !== 'object') return sql`toJSONString(${value})`
  return sql`concat('{', arrayStringConcat(arrayMap(pair -> concat(toJSONString(pair.1), ':', pair.2),
    arrayFilter(pair -> pair.2 != 'null', JSONExtractKeysAndValuesRaw(toJSONString(${value})))), ','), '}')`
}

const iso = (moment: Sql): Sql =>
  sql`formatDateTime(toDateTime64(${moment}, 3, 'UTC'), '%FT%T.%fZ', 'UTC')`

/** Fixed lengths are filled up with NUL. */
const textOf = (value: Sql): Sql => sql`replaceRegexpOne(toString(${value}), '\\\\0+$', '')`

const quoted = (value: Sql): Sql => sql`toJSONString(${value})`

/** Text whose line ends are spaces. */
export const inOneLineSql = (value: Sql): Sql => sql`translate(${value}, '\\r\\n', '  ')`
