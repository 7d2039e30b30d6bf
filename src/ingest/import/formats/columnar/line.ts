/** SQL that builds a line of NDJSON from typed values. */
import { join, sql, string, type Sql } from '../../../../clickhouse/sql.js'
import { markNotUtf8Sql } from '../../../inbox/line-marks.js'
import type { Target } from '../mapping.js'
import { buildJsonSql, type ColumnarOptions } from './value.js'

/** A value of a row, and the target that it fills. */
interface TypedValue {
  readonly target: Target
  /** The ClickHouse type of the value. */
  readonly type: string
  readonly value: Sql
}

/** Builds the line of an event; text that is not UTF-8 makes it the line of an invalid row. */
export function buildLineSql(values: readonly TypedValue[], options: ColumnarOptions): Sql {
  const fields = values
    .filter(({ target }) => target.kind === 'field' && target.name !== 'properties')
    .map((one) => buildMember(one, options))
  const object = sql`concat('{', arrayStringConcat([${join([...fields, ...buildProperties(values, options)])}], ','), '}')`
  return sql`if(isValidUTF8(${object} AS object), object, ${markNotUtf8Sql(sql`toValidUTF8(object)`)})`
}

/** Builds `"<name>":<value>`. */
const buildMember = ({ target, type, value }: TypedValue, options: ColumnarOptions): Sql =>
  sql`concat(${string(`${JSON.stringify(target.name)}:`)}, ${buildJsonSql(target, type, value, options)})`

/** Builds `properties` from the column of the whole object, and from the columns of single properties. */
function buildProperties(values: readonly TypedValue[], options: ColumnarOptions): readonly Sql[] {
  const whole = values.find(({ target }) => target.kind === 'field' && target.name === 'properties')
  const single = values.filter(({ target }) => target.kind === 'property')
  if (whole !== undefined && single.length === 0) return [buildMember(whole, options)]
  if (single.length === 0) return []
  const object =
    whole === undefined ? sql`'{}'` : buildJsonSql(whole.target, whole.type, whole.value, options)
  // A property that is null is absent.
  const entries = single.map(
    (one) =>
      sql`if(${buildJsonSql(one.target, one.type, one.value, options)} = 'null', '', ${buildMember(one, options)})`,
  )
  return [
    sql`concat('"properties":', if(startsWith(${object} AS given_properties, '{') OR given_properties = 'null',
      concat('{', arrayStringConcat(arrayFilter(part -> part != '', [
        if(given_properties = 'null', '', trim(substring(given_properties, 2, length(given_properties) - 2))),
        ${join(entries)}]), ','), '}'),
      given_properties))`,
  ]
}
