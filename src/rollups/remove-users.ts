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
import {
  hashGroup,
  isOfPairedProjects,
  listKeyColumns,
  USER_ROLLUPS,
  type Rollup,
} from '../model/rollups.js'

/** The partition of a rollup that a `day` belongs to, by the frequency of the rollup. */
const PARTITIONS = { daily: sql`toYYYYMM(day)`, monthly: sql`toYear(day)` }

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

/** Users that are to leave groups of the rollups. */
export interface FormerUsers {
  /**
   * A table of the users to remove from each group, with the columns `grain` (`daily` or `monthly`), `project_id`, `dimension`,
   * `value`, `other` (of pairs; else empty), `day` (for a month, its first day) and `user`.
   */
  readonly stale: Sql
  /** Of the reduced groups. It must be higher than in all earlier calls. */
  readonly generation: number
  /** The tables to write to; the live ones if left out. */
  readonly rollups?: RollupTables['rollups']
}

/** Removes users from rollups that no query reads meanwhile. Idempotent. The caller holds the loader lease. */
export async function removeUsersFromRollups(
  writer: Connection,
  former: FormerUsers,
): Promise<void> {
  await reduceGroups(writer, former)
  await deleteReplacedGroups(writer, former)
}

/**
 * Writes the groups without these users, under the new generation. Until the rows of earlier generations are deleted, whoever reads
 * the groups must leave them out. Idempotent. The caller holds the loader lease.
 */
export const reduceGroups = (writer: Connection, former: FormerUsers): Promise<void> =>
  settleAll(listTargets(former).map((target) => insertReduced(writer, target, former.generation)))

/** Deletes the rows of the earlier generations of groups that `reduceGroups` has written. Idempotent. The caller holds the loader lease. */
export const deleteReplacedGroups = (writer: Connection, former: FormerUsers): Promise<void> =>
  settleAll(
    listTargets(former).map((target) => deleteFormerRows(writer, target, former.generation)),
  )

/** Selects the project and the hash of each group that users leave. */
export const selectHashes = (former: FormerUsers): Sql =>
  join(
    listTargets(former).map(
      (target) =>
        sql`SELECT DISTINCT project_id, ${hashGroup(target, sql`day`)} AS hash FROM ${target.stale}`,
    ),
    sql` UNION ALL `,
  )

/** A rollup of users, the table to write to, and the users that leave its groups. */
interface Target extends Rollup {
  readonly table: Sql
  readonly stale: Sql
}

const listTargets = ({ stale, rollups = LIVE.rollups }: FormerUsers): readonly Target[] =>
  USER_ROLLUPS.map((rollup) => {
    const isOfRollup = isOfPairedProjects(rollup) ? IS_PAIR_NAME : not(IS_PAIR_NAME)
    return {
      ...rollup,
      table: rollups[rollup.name],
      stale: sql`(SELECT * FROM ${stale} WHERE grain = ${string(rollup.frequency)} AND ${isOfRollup})`,
    }
  })

async function deleteFormerRows(
  writer: Connection,
  target: Target,
  generation: number,
): Promise<void> {
  // One after another: of deletes from one table that run side by side, ClickHouse may skip one and report success.
  for (const groups of await listAffectedGroups(writer, target)) {
    await writer.execute(statement(buildDeletion(target, groups, generation)), INLINED)
  }
}

const insertReduced = (writer: Connection, target: Target, generation: number): Promise<void> => {
  const { table, group, dateColumn, stale } = target
  const key = join(listKeyColumns(target))
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
  { frequency, stale }: Target,
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

function buildDeletion(
  target: Target,
  { part, parts, partitions }: AffectedGroups,
  generation: number,
): Sql {
  const { table, frequency, stale } = target
  const rows = partitions.map(([partition, listed]) => {
    const groups = sql`FROM ${stale} WHERE ${PARTITIONS[frequency]} = ${uint32(partition)}
  AND ${HASH} % ${uint32(parts)} = ${uint32(part)}`
    const lists = Math.ceil(listed / LISTED_GROUPS)
    const isListed = Array.from({ length: lists }, (_, list) => {
      const ofList = sql`${groups} AND intDiv(${HASH}, ${uint32(parts)}) % ${uint32(lists)} = ${uint32(list)}`
      return sql`${hashGroup(target)} IN ${inlineHashes(hashGroup(target, sql`day`), ofList)}`
    })
    const isOne = sql`generation < ${uint64(generation)}
  AND project_id IN ${inlineTexts(sql`project_id`, groups)}
  AND ${or(isListed)}`
    return { partition, isOne }
  })
  return deleteFromPartitions(table, rows)
}
