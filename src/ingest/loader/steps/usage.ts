/** Counts what becomes of the rows of a load, by project, day of arrival and reason. */
import { sql, string, uint64, type Sql } from '../../../clickhouse/sql.js'
import type { LoadTables } from './shared/load-tables.js'

/** The reason of rows that are counted elsewhere, or again when their import is repeated: they add to no number. */
export const FORWARDED = 'forwarded'

/** Whether the row was staged by a release that did not note the arrival of rows. It may have counted excluded events already. */
const IS_UNDATED = sql`received_on = toDate(0)`

/**
 * Adds all rows of a load to the table `usage`, with one insert: it has all of them or none. Rows whose project does not exist, or
 * lives on another shard, are counted without a project. It adds nothing if the load has counted already. The order makes the blocks
 * of a repeated insert the same, by which ClickHouse recognises them.
 */
export const countUsage = (tables: LoadTables, load: number): Sql => sql`
INSERT INTO usage (project_id, day, reason, events, load)
SELECT
  if(outcome IN ('project', ${string(FORWARDED)}), '', project_id) AS counted_project,
  counted_day, outcome, count(), ${uint64(load)}
FROM (
  SELECT
    toString(load_rows.project_id) AS project_id,
    if(${IS_UNDATED}, today(), received_on) AS counted_day,
    multiIf(
      fate = 'forwarded' OR fate = 'rejected' AND rejection = '', ${string(FORWARDED)},
      fate = 'rejected', toString(rejection),
      load_excluded.reason != '', load_excluded.reason,
      load_rows.seq IN (SELECT seq FROM ${tables.kept}), '',
      'repeated') AS outcome
  FROM ${tables.rows} AS load_rows
  ANY LEFT JOIN ${tables.excludedEvents} AS load_excluded ON load_excluded.seq = load_rows.seq
  WHERE NOT (${IS_UNDATED} AND load_excluded.reason != '')
)
WHERE ${uint64(load)} NOT IN (SELECT load FROM usage WHERE load = ${uint64(load)})
GROUP BY counted_project, counted_day, outcome
ORDER BY counted_project, counted_day, outcome`
