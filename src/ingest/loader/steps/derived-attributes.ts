/** SQL that derives session attributes from an event's user agent, referrer, IP address and links. */
import { sql, string, type Sql } from '../../../clickhouse/sql.js'
import { AGENTS_VERSION } from '../../enrichment/user-agents.js'
import { buildReferrerType } from '../../enrichment/referrer-sql.js'
import { REFERRERS_VERSION } from '../../enrichment/referrers.js'
import type { LoadTables } from './shared/load-tables.js'

/** The columns of the table `rows` that attributes are derived from; empty when the event has no value. */
export const SOURCE_COLUMNS: readonly Sql[] = [
  sql`user_agent`,
  sql`referrer_key`,
  sql`click_id`,
  sql`ip`,
]

/** Selects the classified user agents of a load. */
export const selectAgents = (tables: LoadTables): Sql => sql`
  SELECT user_agent, browser, os, device_type, is_bot FROM agents
  WHERE version = ${string(AGENTS_VERSION)} AND user_agent IN (SELECT user_agent FROM ${tables.rows})`

/** Selects the classified referrers of a load. */
export const selectReferrers = (tables: LoadTables): Sql => sql`
  SELECT key, name, kind FROM referrers
  WHERE version = ${string(REFERRERS_VERSION)} AND key IN (SELECT referrer_key FROM ${tables.rows})`

/** Joins the enrichment tables to a table named `built` that has the columns of SOURCES. */
export const joinEnrichment = (tables: LoadTables): Sql => sql`
ANY LEFT JOIN (${selectAgents(tables)}) AS agent ON agent.user_agent = built.user_agent
ANY LEFT JOIN (${selectReferrers(tables)}) AS source ON source.key = built.referrer_key
ANY LEFT JOIN ${tables.places} AS place ON place.ip = built.ip`

const pickNonEmpty = (value: Sql, fallback: Sql): Sql =>
  sql`if(${value} != '', ${value}, ${fallback})`

const REFERRER_TYPE = buildReferrerType({
  kind: sql`source.kind`,
  hasReferrer: sql`(built.referrer != '' OR built.referrer_key != '')`,
  utmMedium: sql`built.utm_medium`,
  utmSource: sql`built.utm_source`,
  isTagged: sql`notEmpty(concat(built.utm_campaign, built.utm_content, built.utm_term))`,
  clickId: sql`built.click_id`,
})

/** By field: the attributes that are derived when the event has none. A stored session has all of them. */
export const DERIVED_ATTRIBUTES: ReadonlyMap<string, Sql> = new Map([
  ['browser', pickNonEmpty(sql`built.browser`, sql`agent.browser`)],
  ['os', pickNonEmpty(sql`built.os`, sql`agent.os`)],
  ['device_type', pickNonEmpty(sql`built.device_type`, sql`agent.device_type`)],
  ['referrer', pickNonEmpty(sql`built.referrer`, sql`source.name`)],
  ['referrer_type', pickNonEmpty(sql`built.referrer_type`, REFERRER_TYPE)],
  ['country', pickNonEmpty(sql`built.country`, sql`place.country`)],
  // An event whose own country differs from that of its IP address gets neither the region nor the city of the address, and one whose
  // own region differs not the city.
  [
    'region',
    pickNonEmpty(
      sql`built.region`,
      sql`if(built.country IN ('', place.country), place.region, '')`,
    ),
  ],
  [
    'city',
    pickNonEmpty(
      sql`built.city`,
      sql`if(built.country IN ('', place.country) AND built.region IN ('', place.region), place.city, '')`,
    ),
  ],
])
