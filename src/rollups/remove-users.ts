/** Removes users from the bitmaps of groups that they are no longer in. */
import type { Connection } from '../clickhouse/connection.js'
import { INLINED, inlineHashes, inlineTexts } from '../clickhouse/temporary-tables.js'
import { sql, statement, string, uint32, uint64, type Sql } from '../clickhouse/sql.js'
import { LIVE, type RollupTables } from '../model/rollup-table-sets.js'
import { USER_ROLLUPS, type Rollup } from '../model/rollups.js'

/** The partition of a rollup that a `day` belongs to, by the frequency of the rollup. */
const PARTITIONS = { daily: sql`toYYYYMM(day)`, monthly: sql`toYear(day)` }

/** A group by a 128-bit hash of its key. */
const hashGroup = (dateColumn: Sql): Sql =>
  sql`reinterpretAsUInt128(sipHash128(project_id, dimension, value, ${dateColumn}))`

/** The most groups that one statement deletes: their hashes are in its text. */
const MAX_GROUPS = 50_000

/** The groups of a partition from which users are removed; `part` of `parts` of them. */
interface AffectedGroups {
  readonly partition: number
  readonly part: number
  readonly parts: number
}

/**
 * Writes the reduced bitmaps under a new generation, then deletes the older rows. Between the two steps a reader may
 * still count a removed user, but never misses a remaining one. Idempotent. The caller holds the loader lease.
 *
 * @param stale a table of the users to remove from each group, with the columns `grain` (`daily` or `monthly`),
 *   `project_id`, `dimension`, `value`, `day` (for a month, its first day) and `user`
 * @param generation must be higher than in all earlier calls
 * @param rollups the tables to write to; the live ones by default
 */
export async function removeUsersFromRollups(
  writer: Connection,
  stale: Sql,
  generation: number,
  rollups: RollupTables['rollups'] = LIVE.rollups,
): Promise<void> {
  for (const rollup of USER_ROLLUPS) {
    await removeUsers(writer, { ...rollup, table: rollups[rollup.name] }, stale, generation)
  }
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
  const staleOfGrain = sql`(SELECT * FROM ${stale} WHERE grain = ${string(rollup.frequency)})`
  await insertReduced(writer, rollup, staleOfGrain, generation)
  // Other partitions are left as they are: a deletion looks at every part that it does not exclude.
  // One after another: of deletes from one table that run side by side, ClickHouse may skip one and report success.
  for (const groups of await listAffectedGroups(writer, rollup, staleOfGrain)) {
    const deletion = deleteFormerRows(rollup, staleOfGrain, groups, generation)
    await writer.execute(statement(deletion), INLINED)
  }
}

const insertReduced = (
  writer: Connection,
  { table, dateColumn: column }: Target,
  stale: Sql,
  generation: number,
): Promise<void> =>
  writer.execute(
    statement(sql`
INSERT INTO ${table} (project_id, dimension, value, ${column}, generation, users)
SELECT project_id, dimension, value, ${column}, ${uint64(generation)}, bitmapAndnot(stored.all_users, gone.all_users)
FROM (
  SELECT project_id, dimension, value, ${column}, groupBitmapMergeState(users) AS all_users
  FROM ${table}
  WHERE project_id IN (SELECT project_id FROM ${stale})
    AND (project_id, dimension, value, ${column}) IN (SELECT project_id, dimension, value, day FROM ${stale})
  GROUP BY ALL
) AS stored
INNER JOIN (
  SELECT project_id, dimension, value, day AS ${column}, groupBitmapState(user) AS all_users
  FROM ${stale} GROUP BY ALL
) AS gone USING (project_id, dimension, value, ${column})`),
    { insert_deduplicate: 0, max_partitions_per_insert_block: '0' },
  )

async function listAffectedGroups(
  writer: Connection,
  { frequency }: Rollup,
  stale: Sql,
): Promise<readonly AffectedGroups[]> {
  const { rows } = await writer.query<{ partition: number; parts: number }>(
    statement(sql`
SELECT ${PARTITIONS[frequency]} AS partition, toUInt32(ceil(uniqExact(project_id, dimension, value, day) / ${uint32(MAX_GROUPS)})) AS parts
FROM ${stale} GROUP BY partition ORDER BY partition`),
  )
  return rows.flatMap(({ partition, parts }) =>
    Array.from({ length: parts }, (_, part) => ({ partition, part, parts })),
  )
}

function deleteFormerRows(
  { table, frequency, dateColumn }: Target,
  stale: Sql,
  { partition, part, parts }: AffectedGroups,
  generation: number,
): Sql {
  const fromGroups = sql`FROM ${stale}
WHERE ${PARTITIONS[frequency]} = ${uint32(partition)} AND cityHash64(project_id, dimension, value, day) % ${uint32(parts)} = ${uint32(part)}`
  return sql`
DELETE FROM ${table} IN PARTITION ${uint32(partition)}
WHERE generation < ${uint64(generation)}
  AND project_id IN ${inlineTexts(sql`project_id`, fromGroups)}
  AND ${hashGroup(dateColumn)} IN ${inlineHashes(hashGroup(sql`day`), fromGroups)}`
}
