/** Finds excluded events: those of bots, and of IP addresses and countries that the project excludes. */
import { sql, type Sql } from '../../../clickhouse/sql.js'
import { selectAgents } from './derived-attributes.js'
import { insertStaged, type LoadTables } from './shared/load-tables.js'

/**
 * Puts the valid rows that are excluded into the table `untracked`, each with its project, day and `reason`:
 * `ip`, `country` or `bot`. When several reasons apply, the first of these counts.
 */
export const findExcludedEvents = (tables: LoadTables): Sql =>
  insertStaged(
    tables,
    'excludedEvents',
    sql`
WITH
  bots AS (SELECT user_agent FROM (${selectAgents(tables)}) WHERE is_bot),
  excluded AS (SELECT id, arrayJoin(excluded_countries) AS country FROM projects FINAL)
SELECT
  seq, project_id, toDate(timestamp) AS day,
  multiIf(
    fate IN ('ip', 'country'), fate,
    (project_id, if(load_rows.country != '', load_rows.country, load_places.country)) IN (SELECT id, country FROM excluded), 'country',
    'bot') AS reason
FROM ${tables.rows} AS load_rows
ANY LEFT JOIN ${tables.places} AS load_places ON load_places.ip = load_rows.ip
WHERE fate IN ('ip', 'country') OR (fate = 'kept' AND (
  user_agent IN (SELECT user_agent FROM bots)
  OR (project_id, load_places.country) IN (SELECT id, country FROM excluded) AND load_rows.country = ''))`,
  )
