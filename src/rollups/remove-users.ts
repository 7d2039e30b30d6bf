/** Removes users from the bitmaps of groups that they are no longer in. */
import type { Connection } from '../clickhouse/connection.js'
import { sql, statement, string, uint32, uint64, type Sql } from '../clickhouse/sql.js'
import { LIVE } from '../model/rollup-table-sets.js'
import { USER_ROLLUPS } from '../model/rollups.js'

/** The partition of a rollup that a `day` belongs to, by the frequency of the rollup. */
const PARTITIONS = { daily: sql`toYYYYMM(day)`, monthly: sql`toYear(day)` }

/**
 * Writes the reduced bitmaps under a new generation, then deletes the older rows. Between the two steps a reader may
 * still count a removed user, but never misses a remaining one. Idempotent. The caller holds the loader lease.
 *
 * @param stale a table of the users to remove from each group, with the columns `grain` (`daily` or `monthly`),
 *   `project_id`, `dimension`, `value`, `day` (for a month, its first day) and `user`
 * @param generation must be higher than in all earlier calls
 */
export async function removeUsersFromRollups(
  writer: Connection,
  stale: Sql,
  generation: number,
): Promise<void> {
  for (const { name, frequency, dateColumn: column } of USER_ROLLUPS) {
    const table = LIVE.rollups[name]
    const staleOfGrain = sql`(SELECT * FROM ${stale} WHERE grain = ${string(frequency)})`
    const isAffected = sql`
  project_id IN (SELECT project_id FROM ${staleOfGrain})
  AND (project_id, dimension, value, ${column}) IN (SELECT project_id, dimension, value, day FROM ${staleOfGrain})`
    await writer.execute(
      statement(sql`
INSERT INTO ${table} (project_id, dimension, value, ${column}, generation, users)
SELECT project_id, dimension, value, ${column}, ${uint64(generation)}, bitmapAndnot(stored.all_users, gone.all_users)
FROM (
  SELECT project_id, dimension, value, ${column}, groupBitmapMergeState(users) AS all_users
  FROM ${table} WHERE ${isAffected} GROUP BY ALL
) AS stored
INNER JOIN (
  SELECT project_id, dimension, value, day AS ${column}, groupBitmapState(user) AS all_users
  FROM ${staleOfGrain} GROUP BY ALL
) AS gone USING (project_id, dimension, value, ${column})`),
      { insert_deduplicate: 0, max_partitions_per_insert_block: '0' },
    )
    // Other partitions are left as they are: a deletion looks at every part that it does not exclude.
    const { rows: partitions } = await writer.query<{ partition: number }>(
      statement(sql`SELECT DISTINCT ${PARTITIONS[frequency]} AS partition FROM ${staleOfGrain}`),
    )
    for (const { partition } of partitions) {
      await writer.execute(
        statement(sql`
DELETE FROM ${table} IN PARTITION ${uint32(partition)}
WHERE generation < ${uint64(generation)} AND ${isAffected}`),
      )
    }
  }
}
