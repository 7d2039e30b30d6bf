/** Takes users out of groups of the rollups that they are in no more. */
import type { Connection } from '../clickhouse/connection.js'
import { sql, statement, string, uint64, type Sql } from '../clickhouse/sql.js'

const GRAINS = [
  { grain: 'daily', table: sql`users_daily`, column: sql`day` },
  { grain: 'monthly', table: sql`users_monthly`, column: sql`month` },
] as const

/**
 * Writes the sets without those users as a generation of their own, then deletes what was before: in
 * between they still hold who is lost, and never miss who is not. To do it again changes nothing. The
 * caller holds the lease of the loader.
 *
 * @param lost a table of `grain`, `project_id`, `dimension`, `value`, `day` (of a month its first) and `user`
 * @param generation higher than that of all who did so before
 */
export async function removeUsersFromRollups(
  writer: Connection,
  lost: Sql,
  generation: number,
): Promise<void> {
  for (const { grain, table, column } of GRAINS) {
    const ofGrain = sql`(SELECT * FROM ${lost} WHERE grain = ${string(grain)})`
    const isTouched = sql`
  project_id IN (SELECT project_id FROM ${ofGrain})
  AND (project_id, dimension, value, ${column}) IN (SELECT project_id, dimension, value, day FROM ${ofGrain})`
    await writer.execute(
      statement(sql`
INSERT INTO ${table} (project_id, dimension, value, ${column}, generation, users)
SELECT project_id, dimension, value, ${column}, ${uint64(generation)}, bitmapAndnot(stored.all_users, gone.all_users)
FROM (
  SELECT project_id, dimension, value, ${column}, groupBitmapMergeState(users) AS all_users
  FROM ${table} WHERE ${isTouched} GROUP BY ALL
) AS stored
INNER JOIN (
  SELECT project_id, dimension, value, day AS ${column}, groupBitmapState(user) AS all_users
  FROM ${ofGrain} GROUP BY ALL
) AS gone USING (project_id, dimension, value, ${column})`),
      { insert_deduplicate: 0, max_partitions_per_insert_block: '0' },
    )
    await writer.execute(
      statement(
        sql`DELETE FROM ${table} WHERE generation < ${uint64(generation)} AND ${isTouched}`,
      ),
    )
  }
}
