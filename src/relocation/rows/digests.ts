/** Compares the rows of a project in two tables, partition by partition. */
import type { Connection } from '../../clickhouse/connection.js'
import { sql, statement, TRUE, uint32, type Sql } from '../../clickhouse/sql.js'
import type { MovedTable, RowSource } from './moved-tables.js'

/** Partitions by their numbers, 0 for the only one; each with a text that is equal for equal rows. */
export type Digests = ReadonlyMap<number, string>

/** Sets of users are united one after the other, in the order of the table. */
export const IN_ORDER = { optimize_aggregation_in_order: 1 } as const

/** Reads the digests of a project's rows. */
export async function readDigests(
  connection: Connection,
  moved: MovedTable,
  source: RowSource,
): Promise<Digests> {
  const { rows } = await connection.query<{ part: number; count: string; sum: string }>(
    statement(sql`
SELECT toUInt32(${moved.partition ?? uint32(0)}) AS part, toString(${moved.count}) AS count, toString(${moved.hash}) AS sum
FROM (${moved.select(source, TRUE)}) GROUP BY part`),
    { settings: IN_ORDER },
  )
  return new Map(rows.map(({ part, count, sum }) => [part, `${count} ${sum}`]))
}

/** Returns the partitions in which two digests differ, in order. */
export const listDifferences = (one: Digests, other: Digests): readonly number[] =>
  [...new Set([...one.keys(), ...other.keys()])]
    .filter((part) => one.get(part) !== other.get(part))
    .toSorted((a, b) => a - b)

/** Whether a row is in a partition. */
export const isInPartition = ({ partition }: MovedTable, part: number): Sql =>
  partition === undefined ? TRUE : sql`${partition} = ${uint32(part)}`

/** Names a partition in ALTER and DELETE statements. */
export const namePartition = ({ partition }: MovedTable, part: number): Sql =>
  partition === undefined ? sql`tuple()` : uint32(part)
