/** Derives session attributes from what an event brings: its agent, referrer, address and links, as SQL. */
import { sql, string, type Sql } from '../../../clickhouse/sql.js'
import { AGENTS_VERSION } from '../../enrichment/user-agents.js'
import { buildReferrerType } from '../../enrichment/referrer-sql.js'
import { REFERRERS_VERSION } from '../../enrichment/referrers.js'
import type { LoadTables } from './load-tables.js'

/** What attributes are derived from: columns of the table `rows`, empty where the event has none. */
export const SOURCES: readonly Sql[] = [sql`user_agent`, sql`referrer_key`, sql`click_id`, sql`ip`]

/** What is known of the agents of a load. */
export const selectAgents = (tables: LoadTables): Sql => sql`
  SELECT user_agent, browser, os, device_type, is_bot FROM agents
  WHERE version = ${string(AGENTS_VERSION)} AND user_agent IN (SELECT user_agent FROM ${tables.rows})`

/** What is known of the referrers of a load. */
export const selectReferrers = (tables: LoadTables): Sql => sql`
  SELECT key, name, kind FROM referrers
  WHERE version = ${string(REFERRERS_VERSION)} AND key IN (SELECT referrer_key FROM ${tables.rows})`

/** The look-up tables, to be joined to what has the columns of SOURCES under the name `built`. */
export const joinEnrichment = (tables: LoadTables): Sql => sql`
ANY LEFT JOIN (${selectAgents(tables)}) AS agent ON agent.user_agent = built.user_agent
ANY LEFT JOIN (${selectReferrers(tables)}) AS source ON source.key = built.referrer_key
ANY LEFT JOIN ${tables.places} AS place ON place.ip = built.ip`

const orElse = (given: Sql, derived: Sql): Sql => sql`if(${given} != '', ${given}, ${derived})`

const REFERRER_TYPE = buildReferrerType({
  kind: sql`source.kind`,
  hasReferrer: sql`(built.referrer != '' OR built.referrer_key != '')`,
  utmMedium: sql`built.utm_medium`,
  utmSource: sql`built.utm_source`,
  isTagged: sql`notEmpty(concat(built.utm_campaign, built.utm_content, built.utm_term))`,
  clickId: sql`built.click_id`,
})

/** The attributes that are derived where the event does not say them. A stored session says all. */
export const DERIVED_ATTRIBUTES: ReadonlyMap<string, Sql> = new Map([
  ['browser', orElse(sql`built.browser`, sql`agent.browser`)],
  ['os', orElse(sql`built.os`, sql`agent.os`)],
  ['device_type', orElse(sql`built.device_type`, sql`agent.device_type`)],
  ['referrer', orElse(sql`built.referrer`, sql`source.name`)],
  ['referrer_type', orElse(sql`built.referrer_type`, REFERRER_TYPE)],
  ['country', orElse(sql`built.country`, sql`place.country`)],
  // The city of an address is none of another country.
  ['city', orElse(sql`built.city`, sql`if(built.country IN ('', place.country), place.city, '')`)],
])
