/** The SQL that makes a line of NDJSON of typed values. */
import { join, sql, string, type Sql } from '../../../../clickhouse/sql.js'
import type { Target } from '../mapping.js'
import { inOneLineSql, jsonOf } from './value.js'

/** A value of a row, and what it gives. */
export interface Given {
  readonly target: Target
  /** The type of ClickHouse that the value has. */
  readonly type: string
  readonly value: Sql
}

/** Text that is not UTF-8 makes its row unfit. */
export function lineOf(given: readonly Given[], isForeign: boolean): Sql {
  const fields = given
    .filter(({ target }) => target.kind === 'field' && target.name !== 'properties')
    .map((one) => entry(one, isForeign))
  const object = sql`concat('{', arrayStringConcat([${join([...fields, ...propertiesOf(given, isForeign)])}], ','), '}')`
  return sql`if(isValidUTF8(${object} AS object), object, ${UNFIT})`
}

const UNFIT = sql`concat('\\x15is not valid UTF-8\\x1f', ${inOneLineSql(sql`toValidUTF8(object)`)})`

const entry = ({ target, type, value }: Given, isForeign: boolean): Sql =>
  sql`concat(${string(`${JSON.stringify(target.name)}:`)}, ${jsonOf(target, type, value, isForeign)})`

/** The object of the column `properties`, with the entries of the columns of single ones. */
function propertiesOf(given: readonly Given[], isForeign: boolean): readonly Sql[] {
  const whole = given.find(({ target }) => target.kind === 'field' && target.name === 'properties')
  const single = given.filter(({ target }) => target.kind === 'property')
  if (whole !== undefined && single.length === 0) return [entry(whole, isForeign)]
  if (single.length === 0) return []
  const { target, type, value } = whole ?? { target: undefined, type: '', value: sql`''` }
  const object = target === undefined ? sql`'{}'` : jsonOf(target, type, value, isForeign)
  // A property that is null is absent.
  const entries = single.map(
    (one) =>
      sql`if(${jsonOf(one.target, one.type, one.value, isForeign)} = 'null', '', ${entry(one, isForeign)})`,
  )
  return [
    sql`concat('"properties":', if(startsWith(${object} AS given_properties, '{') OR given_properties = 'null',
      concat('{', arrayStringConcat(arrayFilter(part -> part != '', [
        if(given_properties = 'null', '', trim(substring(given_properties, 2, length(given_properties) - 2))),
        ${join(entries)}]), ','), '}'),
      given_properties))`,
  ]
}
