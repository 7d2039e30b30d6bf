/** Fills the look-up tables with what libraries say of values that a load has and the tables have not. */
import { Readable } from 'node:stream'
import type { Connection } from '../../../clickhouse/connection.js'
import { sql, statement, type Sql } from '../../../clickhouse/sql.js'
import { AGENTS_VERSION, classifyUserAgent } from '../../enrichment/user-agents.js'
import type { Geoip } from '../../enrichment/geoip.js'
import { classifyReferrer, REFERRERS_VERSION } from '../../enrichment/referrers.js'
import { selectAgents, selectReferrers } from './derived-attributes.js'
import type { LoadTables } from './load-tables.js'

/** Knows where addresses are; undefined where no GeoIP database is configured. */
export type Geography = Geoip | undefined

/**
 * Looks up each distinct agent, referrer and address of the rows once. Agents and referrers are kept for
 * later loads; addresses are told apart in a table of the load alone, and go with it.
 */
export async function enrichRows(
  writer: Connection,
  tables: LoadTables,
  geoip: Geography,
): Promise<void> {
  await Promise.all([
    fillAgents(writer, tables),
    fillReferrers(writer, tables),
    fillPlaces(writer, tables, geoip),
  ])
}

const distinct = (tables: LoadTables, column: Sql, known: Sql): Sql => sql`
SELECT DISTINCT ${column} AS value FROM ${tables.rows}
WHERE fate = 'kept' AND value != '' AND value NOT IN (${known})`

async function fillAgents(writer: Connection, tables: LoadTables): Promise<void> {
  const known = sql`SELECT user_agent FROM (${selectAgents(tables)})`
  await fill(
    writer,
    distinct(tables, sql`user_agent`, known),
    sql`agents (user_agent, version, browser, os, device_type, is_bot)`,
    (value) => {
      const { browser, os, device_type, is_bot } = classifyUserAgent(value)
      return [value, AGENTS_VERSION, browser, os, device_type, is_bot]
    },
  )
}

async function fillReferrers(writer: Connection, tables: LoadTables): Promise<void> {
  const known = sql`SELECT key FROM (${selectReferrers(tables)})`
  await fill(
    writer,
    distinct(tables, sql`referrer_key`, known),
    sql`referrers (key, version, name, kind)`,
    (value) => {
      const { name, kind } = classifyReferrer(value)
      return [value, REFERRERS_VERSION, name, kind]
    },
  )
}

async function fillPlaces(writer: Connection, tables: LoadTables, geoip: Geography): Promise<void> {
  await writer.execute(
    statement(sql`
CREATE TABLE ${tables.places} (ip String, country LowCardinality(String), city LowCardinality(String))
ENGINE = MergeTree ORDER BY ip`),
  )
  if (geoip === undefined) return
  await fill(
    writer,
    distinct(tables, sql`ip`, sql`SELECT ip FROM ${tables.places}`),
    sql`${tables.places} (ip, country, city)`,
    (value) => {
      const { country, city } = geoip.lookup(value)
      return [value, country, city]
    },
  )
}

/** Values travel as data of the insert, never in its text: texts of statements are logged. */
async function fill(
  writer: Connection,
  missing: Sql,
  target: Sql,
  rowOf: (value: string) => readonly (string | boolean)[],
): Promise<void> {
  const { rows } = await writer.query<{ value: string }>(statement(missing))
  if (rows.length === 0) return
  const lines = rows.map(({ value }) => `${JSON.stringify(rowOf(value))}\n`)
  await writer.upload(
    statement(sql`INSERT INTO ${target} FORMAT JSONCompactEachRow`),
    Readable.from([Buffer.from(lines.join(''))]),
    { async_insert: 0 },
  )
}
