/** Drops duplicates and numbers the users of a load. */
import { sql, uint64, type Sql } from '../../../clickhouse/sql.js'
import { DURABLE, type LoadTables } from './load-tables.js'

const isIncluded = (tables: LoadTables): Sql =>
  sql`fate = 'kept' AND seq NOT IN (SELECT seq FROM ${tables.excludedEvents})`

/**
 * Stores a salt for each day that has events without a user id and no salt yet. Salts are kept for two days; one that is
 * about to expire may be gone when it is used, so its day gets another.
 */
export const saltDays = (tables: LoadTables): Sql => sql`
INSERT INTO salts (day, salt)
SELECT day, lower(hex(randomString(16)))
FROM (SELECT DISTINCT toDate(timestamp) AS day FROM ${tables.rows} AS load_rows WHERE ${isIncluded(tables)} AND user_id = '')
WHERE day NOT IN (SELECT day FROM salts WHERE created_at > now() - INTERVAL 47 HOUR)`

/** The salt of each day: the first, if two loaders made one at the same moment. */
const SALTS = sql`SELECT day, argMin(salt, (created_at, salt)) AS salt FROM salts GROUP BY day`

/**
 * Puts the rows that become events into the table `kept`. Only the first row to arrive with an event id is
 * kept, and none when an earlier load had the id. A user without an id is identified by IP address and user agent, for
 * one day.
 */
export const keepRows = (tables: LoadTables): Sql => sql`
CREATE TABLE ${tables.kept} ENGINE = MergeTree ORDER BY seq ${DURABLE} AS
SELECT
  seq, project_id, timestamp, session_id,
  if(user_id != '', user_id, concat('anonymous-', lower(hex(sipHash128(salts.salt, project_id, ip, user_agent))))) AS user_id
FROM ${tables.rows} AS load_rows
LEFT JOIN (${SALTS}) AS salts ON salts.day = toDate(load_rows.timestamp)
WHERE ${isIncluded(tables)} AND (event_key = 0 OR seq IN (
  SELECT min(seq) FROM ${tables.rows} AS load_rows
  WHERE ${isIncluded(tables)} AND event_key != 0 AND (project_id, event_key) NOT IN (
    SELECT project_id, event_id FROM event_ids
    WHERE project_id IN (SELECT project_id FROM ${tables.rows} AS load_rows)
      AND event_id IN (SELECT event_key FROM ${tables.rows} AS load_rows))
  GROUP BY project_id, event_key))`

/** Puts the users of the load with their numbers into the table `users`. Each project numbers its users from 1. */
export const numberUsers = (tables: LoadTables, load: number): Sql => sql`
CREATE TABLE ${tables.users} ENGINE = MergeTree ORDER BY (project_id, user_id) ${DURABLE} AS
WITH
  batch AS (SELECT project_id, user_id, min((timestamp, seq)) AS first FROM ${tables.kept} GROUP BY ALL),
  known AS (SELECT project_id, user_id, user FROM users WHERE (project_id, user_id) IN (SELECT project_id, user_id FROM batch)),
  last AS (SELECT project_id, max(user) AS user FROM users WHERE project_id IN (SELECT project_id FROM batch) GROUP BY project_id)
SELECT project_id, user_id, user, false AS is_new, ${uint64(load)} AS load FROM known
UNION ALL
SELECT
  batch.project_id, batch.user_id,
  toUInt32(last.user + row_number() OVER (PARTITION BY batch.project_id ORDER BY batch.first)), true, ${uint64(load)}
FROM batch LEFT JOIN last ON last.project_id = batch.project_id
WHERE (batch.project_id, batch.user_id) NOT IN (SELECT project_id, user_id FROM known)`
