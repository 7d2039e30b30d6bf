/** Removes users from the bitmaps of groups that they are no longer in. */
import type { Connection } from '../clickhouse/connection.js'
import {
  deleteFromPartitions,
  INLINED,
  inlineHashes,
  inlineTexts,
} from '../clickhouse/temporary-tables.js'
import {
  join,
  not,
  or,
  sql,
  statement,
  string,
  uint32,
  uint64,
  type Sql,
} from '../clickhouse/sql.js'
import { settleAll } from '../lib/settle.js'
import { LIVE, type RollupTables } from '../model/rollup-table-sets.js'
import { IS_PAIR_NAME } from '../model/pairs.js'
import { isOfPairs, listKeyColumns, USER_ROLLUPS, type Rollup } from '../model/rollups.js'

/** The partition of a rollup that a `day` belongs to, by the frequency of the rollup. */
const PARTITIONS = { daily: sql`toYYYYMM(day)`, monthly: sql`toYear(day)` }

/** A group by a 128-bit hash of its key. */
const hashGroup = ({ group }: Rollup, date: Sql): Sql =>
  sql`reinterpretAsUInt128(sipHash128(project_id, ${join(group)}, ${date}))`

/** The most groups that one statement deletes: their hashes are in its text. */
const MAX_GROUPS = 500_000

/** About how many hashes one list of a statement has. ClickHouse computes a constant of 1 MiB, about 21,000 hashes, again for each block. */
const LISTED_GROUPS = 15_000

/** Decides which statement deletes a group, and which of its lists has the hash of the group. */
const HASH = sql`cityHash64(project_id, dimension, value, other, day)`

/** The groups that one statement deletes: `part` of `parts` of them. */
interface AffectedGroups {
  readonly part: number
  readonly parts: number
  /** The partitions of their rows, and how many groups each has. */
  readonly partitions: readonly (readonly [partition: number, groups: number])[]
}

/**
 * Writes the reduced bitmaps under a new generation, then deletes the older rows. Between the two steps the rollups still count
 * the removed users, so no query may read them. Idempotent. The caller holds the loader lease.
 *
 * @param stale a table of the users to remove from each group, with the columns `grain` (`daily` or `monthly`),
 *   `project_id`, `dimension`, `value`, `other` (of pairs; else empty), `day` (for a month, its first day) and `user`
 * @param generation must be higher than in all earlier calls
 * @param rollups the tables to write to; the live ones by default
 */
export async function removeUsersFromRollups(
  writer: Connection,
  stale: Sql,
  generation: number,
  rollups: RollupTables['rollups'] = LIVE.rollups,
): Promise<void> {
  await settleAll(
    USER_ROLLUPS.map((rollup) =>
      removeUsers(writer, { ...rollup, table: rollups[rollup.name] }, stale, generation),
    ),
  )
}

/** A rollup of users, and the table to write to. */
interface Target extends Rollup {
  readonly table: Sql
}

async function removeUsers(
  writer: Connection,
  rollup: Target,
  stale: Sql,
  generation: number,
): Promise<void> {
  const isOfRollup = isOfPairs(rollup) ? IS_PAIR_NAME : not(IS_PAIR_NAME)
  const staleOfGrain = sql`(SELECT * FROM ${stale} WHERE grain = ${string(rollup.frequency)} AND ${isOfRollup})`
  const affected = await listAffectedGroups(writer, rollup, staleOfGrain)
  if (affected.length === 0) return
  await insertReduced(writer, rollup, staleOfGrain, generation)
  // One after another: of deletes from one table that run side by side, ClickHouse may skip one and report success.
  for (const groups of affected) {
    const deletion = deleteFormerRows(rollup, staleOfGrain, groups, generation)
    await writer.execute(statement(deletion), INLINED)
  }
}

const insertReduced = (
  writer: Connection,
  rollup: Target,
  stale: Sql,
  generation: number,
): Promise<void> => {
  const { table, group, dateColumn } = rollup
  const key = join(listKeyColumns(rollup))
  return writer.execute(
    statement(sql`
INSERT INTO ${table} (${key}, generation, users)
SELECT ${key}, ${uint64(generation)}, bitmapAndnot(stored.all_users, gone.all_users)
FROM (
  SELECT ${key}, groupBitmapMergeState(users) AS all_users
  FROM ${table}
  WHERE project_id IN (SELECT project_id FROM ${stale})
    AND (${key}) IN (SELECT project_id, ${join(group)}, day FROM ${stale})
  GROUP BY ALL
) AS stored
INNER JOIN (
  SELECT project_id, ${join(group)}, day AS ${dateColumn}, groupBitmapState(user) AS all_users
  FROM ${stale} GROUP BY ALL
) AS gone USING (${key})`),
    { insert_deduplicate: 0, max_partitions_per_insert_block: '0' },
  )
}

async function listAffectedGroups(
  writer: Connection,
  { frequency }: Rollup,
  stale: Sql,
): Promise<readonly AffectedGroups[]> {
  const { rows } = await writer.query<AffectedGroups>(
    statement(sql`
WITH
  groups AS (SELECT DISTINCT ${HASH} AS hash, ${PARTITIONS[frequency]} AS partition FROM ${stale}),
  (SELECT toUInt32(greatest(1, ceil(count() / ${uint32(MAX_GROUPS)}))) FROM groups) AS statements
SELECT part, statements AS parts, groupArray((partition, listed)) AS partitions
FROM (
  SELECT hash % statements AS part, partition, toUInt32(count()) AS listed
  FROM groups GROUP BY part, partition ORDER BY partition
)
GROUP BY part ORDER BY part`),
  )
  return rows
}

function deleteFormerRows(
  rollup: Target,
  stale: Sql,
  { part, parts, partitions }: AffectedGroups,
  generation: number,
): Sql {
  const { table, frequency, dateColumn } = rollup
  const rows = partitions.map(([partition, listed]) => {
    const groups = sql`FROM ${stale} WHERE ${PARTITIONS[frequency]} = ${uint32(partition)}
  AND ${HASH} % ${uint32(parts)} = ${uint32(part)}`
    const lists = Math.ceil(listed / LISTED_GROUPS)
    const isListed = Array.from({ length: lists }, (_, list) => {
      const ofList = sql`${groups} AND intDiv(${HASH}, ${uint32(parts)}) % ${uint32(lists)} = ${uint32(list)}`
      return sql`${hashGroup(rollup, dateColumn)} IN ${inlineHashes(hashGroup(rollup, sql`day`), ofList)}`
    })
    const isOne = sql`generation < ${uint64(generation)}
  AND project_id IN ${inlineTexts(sql`project_id`, groups)}
  AND ${or(isListed)}`
    return { partition, isOne }
  })
  return deleteFromPartitions(table, rows)
}
