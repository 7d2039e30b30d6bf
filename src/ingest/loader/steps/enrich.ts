/** Enriches a load: classifies the user agents, referrers and IP addresses that the store does not know yet. */
import { Readable } from 'node:stream'
import { setImmediate as yieldToEvents } from 'node:timers/promises'
import type { Connection } from '../../../clickhouse/connection.js'
import { sql, statement, uint32, type Sql } from '../../../clickhouse/sql.js'
import type { Geoip } from '../../enrichment/geoip.js'
import { classifyReferrer, REFERRERS_VERSION } from '../../enrichment/referrers.js'
import { AGENTS_VERSION, classifyUserAgent } from '../../enrichment/user-agents.js'
import { selectAgents, selectReferrers } from './derived-attributes.js'
import type { LoadTables } from './shared/load-tables.js'

/**
 * Classifies each distinct user agent, referrer and IP address of the rows once. User agents and referrers are
 * kept for later loads. IP addresses go into a table of the load, which is dropped with it.
 *
 * @param geoip undefined without a GeoIP database: then addresses have no country, region or city
 */
export async function enrichRows(
  writer: Connection,
  tables: LoadTables,
  geoip: Geoip | undefined,
): Promise<void> {
  await Promise.all([
    enrichUserAgents(writer, tables),
    enrichReferrers(writer, tables),
    enrichPlaces(writer, tables, geoip),
  ])
}

/** The most values that are classified at once, so that neither a response of the store nor an insert is large. */
const MAX_VALUES = 5_000

/** Selects distinct values of a column that the query `known` does not return, at most MAX_VALUES. */
const selectUnknown = (tables: LoadTables, column: Sql, known: Sql): Sql => sql`
SELECT DISTINCT ${column} AS value FROM ${tables.rows}
WHERE fate = 'kept' AND value != '' AND value NOT IN (${known})
LIMIT ${uint32(MAX_VALUES)}`

async function enrichUserAgents(writer: Connection, tables: LoadTables): Promise<void> {
  const known = sql`SELECT user_agent FROM (${selectAgents(tables)})`
  await insertClassified(
    writer,
    selectUnknown(tables, sql`user_agent`, known),
    sql`agents (user_agent, version, browser, os, device_type, is_bot)`,
    (value) => {
      const { browser, os, device_type, is_bot } = classifyUserAgent(value)
      return [value, AGENTS_VERSION, browser, os, device_type, is_bot]
    },
  )
}

async function enrichReferrers(writer: Connection, tables: LoadTables): Promise<void> {
  const known = sql`SELECT key FROM (${selectReferrers(tables)})`
  await insertClassified(
    writer,
    selectUnknown(tables, sql`referrer_key`, known),
    sql`referrers (key, version, name, kind)`,
    (value) => {
      const { name, kind } = classifyReferrer(value)
      return [value, REFERRERS_VERSION, name, kind]
    },
  )
}

async function enrichPlaces(
  writer: Connection,
  tables: LoadTables,
  geoip: Geoip | undefined,
): Promise<void> {
  await writer.execute(
    statement(sql`
CREATE TABLE ${tables.places} (ip String, country LowCardinality(String), region LowCardinality(String), city LowCardinality(String))
ENGINE = MergeTree ORDER BY ip`),
  )
  if (geoip === undefined) return
  await insertClassified(
    writer,
    selectUnknown(tables, sql`ip`, sql`SELECT ip FROM ${tables.places}`),
    sql`${tables.places} (ip, country, region, city)`,
    (value) => {
      const { country, region, city } = geoip.lookup(value)
      return [value, country, region, city]
    },
  )
}

/**
 * Inserts one row for each unknown value. Values are sent as data and never in the text of a statement, because
 * ClickHouse logs texts.
 */
async function insertClassified(
  writer: Connection,
  unknownValues: Sql,
  target: Sql,
  classify: (value: string) => readonly (string | boolean)[],
): Promise<void> {
  // Each insert makes its values known, so the next query returns others; but not a value that JSON cannot carry.
  for (let last: ReadonlySet<string> = new Set(); ;) {
    const { rows } = await writer.query<{ value: string }>(statement(unknownValues))
    const values = rows.map(({ value }) => value)
    if (values.every((value) => last.has(value))) return
    const lines = await mapInSlices(values, (value) => `${JSON.stringify(classify(value))}\n`)
    await writer.upload(
      statement(sql`INSERT INTO ${target} FORMAT JSONCompactEachRow`),
      Readable.from([Buffer.from(lines.join(''))]),
      { async_insert: 0 },
    )
    if (values.length < MAX_VALUES) return
    last = new Set(values)
  }
}

/** The longest that a slice keeps the process from other work, unless a single item takes longer. */
const MAX_SLICE_MS = 5

/** Maps items like `Array.map`, but lets other work run every few milliseconds. */
async function mapInSlices<Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Result,
): Promise<Result[]> {
  const results: Result[] = []
  let start = performance.now()
  for (const item of items) {
    if (performance.now() - start >= MAX_SLICE_MS) {
      await yieldToEvents()
      start = performance.now()
    }
    results.push(map(item))
  }
  return results
}
