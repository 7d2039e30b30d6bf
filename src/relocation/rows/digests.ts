/** Compares the rows of a project in two tables, partition by partition. */
import type { Connection } from '../../clickhouse/connection.js'
import { join, sql, statement, TRUE, uint32, type Sql } from '../../clickhouse/sql.js'
import type { MovedTable, RowSource } from './moved-tables.js'

/** Partitions by their numbers, 0 for the only one; each with a text that is equal for equal rows. */
export type Digests = ReadonlyMap<number, string>

/** Sets of users are united one after the other, in the order of the table. */
export const IN_ORDER = { optimize_aggregation_in_order: 1 } as const

interface KnownDigest {
  /** The parts of the partition when the digest was read. */
  readonly parts: string
  /** Undefined if the project has no rows there. */
  readonly digest: string | undefined
}

/**
 * Remembers digests while the parts of their partitions stay the same: parts are never changed, only replaced. A table must not be
 * created again under the same name in that time. The keys are tables of shards.
 */
export type KnownDigests = Map<string, ReadonlyMap<number, KnownDigest>>

/** Where digests are remembered. */
export interface Memory {
  readonly known: KnownDigests
  /** What is unique to the table and the rows in it that are read. */
  readonly key: string
}

/** Reads the digests of a project's rows. A partition is not read again while it has the parts whose digest is known. */
export async function readDigests(
  connection: Connection,
  moved: MovedTable,
  source: RowSource,
  { known, key }: Memory,
): Promise<Digests> {
  if (moved.partition === undefined) return computeDigests(connection, moved, source, TRUE)
  const before = await readParts(connection, source)
  const former = known.get(key)
  const same = [...before].flatMap(([part, parts]) => {
    const found = former?.get(part)
    return found?.parts === parts ? [[part, found] as const] : []
  })
  const read = new Set(same.map(([part]) => part))
  const others = [...before.keys()].filter((part) => !read.has(part))
  const isOther = sql`${moved.partition} IN (${join(others.map(uint32))})`
  const computed =
    others.length === 0 ? NONE : await computeDigests(connection, moved, source, isOther)
  // What was loaded or merged meanwhile may be in the digest or not: it is not remembered.
  const after = await readParts(connection, source)
  const stable = others.flatMap((part): readonly [number, KnownDigest][] => {
    const parts = before.get(part)
    return parts === undefined || parts !== after.get(part)
      ? []
      : [[part, { parts, digest: computed.get(part) }]]
  })
  known.set(key, new Map([...same, ...stable]))
  const remembered = same.flatMap(([part, { digest }]): readonly [number, string][] =>
    digest === undefined ? [] : [[part, digest]],
  )
  return new Map([...remembered, ...computed])
}

const NONE: Digests = new Map()

/** Reads the names of the parts of each partition. The engine knows them without reading rows. */
async function readParts(
  connection: Connection,
  { table }: RowSource,
): Promise<ReadonlyMap<number, string>> {
  const { rows } = await connection.query<{ part: number; parts: string }>(
    statement(sql`
SELECT part, toString(arraySort(groupArray((name, part_rows)))) AS parts
FROM (SELECT toUInt32(_partition_id) AS part, _part AS name, count() AS part_rows FROM ${table} GROUP BY part, name)
GROUP BY part`),
  )
  return new Map(rows.map(({ part, parts }) => [part, parts]))
}

async function computeDigests(
  connection: Connection,
  moved: MovedTable,
  source: RowSource,
  condition: Sql,
): Promise<Digests> {
  const { rows } = await connection.query<{ part: number; count: string; sum: string }>(
    statement(sql`
SELECT toUInt32(${moved.partition ?? uint32(0)}) AS part, toString(${moved.count}) AS count, toString(${moved.hash}) AS sum
FROM (${moved.select(source, condition)}) GROUP BY part`),
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
