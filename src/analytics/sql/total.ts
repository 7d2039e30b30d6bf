/** Writes the total of several scans, each of which has a single row. */
import { join, numberedName, sql, type Sql } from '../../clickhouse/sql.js'
import { MEASURE_COLUMNS, type Measure } from '../../model/measures.js'
import type { RelationName } from '../../model/relations.js'

/** A scan of one row, with the measures that it provides. */
export interface TotalPart {
  readonly relation: RelationName
  readonly measures: readonly Measure[]
  readonly select: Sql
}

/**
 * Writes the scans beside each other and adds them up. ClickHouse needs less time for it than to unite their rows and group
 * them, as `writeGroups` does for other queries.
 *
 * @param areBitmaps whether users are bitmaps, because several scans provide them
 * @param marks further columns
 */
export function writeTotal(
  parts: readonly TotalPart[],
  measures: readonly Measure[],
  areBitmaps: boolean,
  marks: readonly Sql[],
): Sql {
  const named = parts.map((part, i) => ({ ...part, name: numberedName('part', i, part.relation) }))
  const columns = measures.map((measure) => {
    const column = MEASURE_COLUMNS[measure]
    const values = named
      .filter((part) => part.measures.includes(measure))
      .map(({ name }) => sql`${name}.${column}`)
    const total = measure === 'users' && areBitmaps ? countUsers(values) : join(values, sql` + `)
    return sql`${total} AS ${column}`
  })
  const tables = named.map(({ select, name }) => sql`(${select}) AS ${name}`)
  return sql`SELECT ${join([sql`'' AS group_key`, ...columns, ...marks])} FROM ${join(tables, sql` CROSS JOIN `)}`
}

const countUsers = (bitmaps: readonly Sql[]): Sql =>
  sql`bitmapCardinality(${bitmaps.reduce((united, other) => sql`bitmapOr(${united}, ${other})`)})`
