/** First step of a load: reads the JSON of a batch into typed rows, and settles the fate of each. */
import { join, sql, string, type Sql } from '../../../clickhouse/sql.js'
import { buildReferrerKey, extractClickId } from '../../enrichment/referrer-sql.js'
import { FIELDS_TYPE, SESSION_ATTRIBUTES, UTM_FIELDS } from '../../../model/event-fields.js'
import { VIOLATIONS, REJECTION_REASONS } from './validate-rows.js'
import { jsonField, buildOrigin, decodeParameter, splitUrl } from './json-fields.js'
import type { LoadTables } from './load-tables.js'

/** Longer texts are cut: what is returned as a group can always be sent back in a filter. */
const cut = (text: Sql): Sql => sql`leftUTF8(${text}, 1024)`

/** A field of the event, or else what its URL says. */
const orUrl = (field: string, fromUrl: Sql): Sql =>
  sql`if(${jsonField(field)} != '' OR empty(url_parts), ${jsonField(field)}, ${fromUrl})`

const utm = (field: string): Sql => orUrl(field, decodeParameter(sql`url_parts`, field))

/** Session attributes that are more than the field of their name. */
const DERIVED: ReadonlyMap<string, Sql> = new Map([
  ...UTM_FIELDS.map((field) => [field, utm(field)] as const),
  ['referrer_url', sql`if(own_referrer, '', ${jsonField('referrer_url')})`],
])

/** A property's value: a string as it is, anything else as its JSON text. */
const PROPERTIES = sql`mapFromArrays(
    arrayMap(pair -> pair.1, property_pairs),
    arrayMap(pair -> ${cut(sql`if(startsWith(pair.2, '"'), JSONExtractString(pair.2), pair.2)`)}, property_pairs))`

/** Blocks are numbered in the order in which they came. */
const PARSED = (rows: Sql): Sql => sql`
  SELECT
    bitShiftLeft(toUInt64(_block_number), 32) + _block_offset AS seq, row, batch, fault, line, received_at,
    JSONExtractKeysAndValuesRaw(line) AS pairs,
    JSONExtract(line, ${string(FIELDS_TYPE)}) AS given,
    if(project != '', project, ${jsonField('project')}) AS named_project
  ${rows}`

const TAKEN_APART = (rows: Sql): Sql => sql`
  SELECT
    *,
    ${jsonField('timestamp')} = '' AND batch = '' AS is_timed_by_arrival,
    if(is_timed_by_arrival, received_at, parseDateTime64BestEffortOrNull(${jsonField('timestamp')}, 3, 'UTC')) AS at,
    ${splitUrl(jsonField('url'))} AS url_parts,
    lower(domain(${jsonField('referrer_url')})) AS referrer_host,
    arrayReverse(JSONExtractKeysAndValuesRaw(given.properties)) AS last_first,
    -- Of a name that is given twice the last value counts.
    arrayFilter((pair, nth) -> nth = 1, last_first, arrayEnumerateUniq(last_first.1)) AS property_pairs
  FROM (${PARSED(rows)})`

/** What the store keeps of a rejected row itself has no address in it. */
const WITHOUT_ADDRESS = sql`replaceRegexpAll(line, '("ip"\\\\s*:\\\\s*)"[^"]*"', '\\\\1""')`

const ADDRESS = sql`toIPv6OrNull(${jsonField('ip')})`

/** The first and the last address of an address or a range in CIDR notation, IPv4 mapped into IPv6. */
const RANGE_OF = sql`if(
      position(excluded, '/') = 0,
      (toIPv6OrDefault(excluded), toIPv6OrDefault(excluded)),
      IPv6CIDRToRange(toIPv6OrDefault(splitByChar('/', excluded)[1]), toUInt8(toUInt8OrZero(splitByChar('/', excluded)[2]) + if(position(excluded, ':') = 0, 96, 0))))`

const PROJECTS = sql`
    SELECT id, domain, excluded_countries, arrayMap(excluded -> ${RANGE_OF}, excluded_ips) AS excluded_ips
    FROM projects FINAL`

/** Each row beside its project, `known`. */
const JUDGED = (rows: Sql): Sql => sql`
  SELECT
    parts.*,
    ${VIOLATIONS} AS broken,
    ${REJECTION_REASONS} AS faults,
    notEmpty(known.excluded_ips) AND arrayExists(range -> ifNull(${ADDRESS} BETWEEN range.1 AND range.2, false), known.excluded_ips) AS is_excluded_ip,
    has(known.excluded_countries, ${jsonField('country')}) AS is_excluded_country,
    known.domain != '' AND (referrer_host = known.domain OR endsWith(referrer_host, concat('.', known.domain))) AS own_referrer
  FROM (${TAKEN_APART(rows)}) AS parts
  LEFT JOIN (${PROJECTS}) AS known ON known.id = parts.named_project`

/**
 * Reads rows of the inbox into the table `rows`. Its columns: those of an event, as far as the row itself
 * says them; `seq` (order of arrival), `event_key` (hash of the event id, 0 without one), `user_id` (empty
 * where it is to be derived), `session_id`, what is derived from (`ip`, `user_agent`, `referrer_key`,
 * `click_id`), `fate` (`kept`, `ip` or `country` where that is excluded, `rejected`), `reason` and, for
 * rejected rows, `rejected_line`.
 *
 * @param rows where they are, from the word FROM on
 */
export const parseRows = (tables: LoadTables, rows: Sql): Sql => sql`
CREATE TABLE ${tables.rows} ENGINE = MergeTree ORDER BY seq AS
SELECT
  seq, row,
  toLowCardinality(named_project) AS project_id,
  if(${jsonField('event_id')} = '', toUInt128(0), reinterpretAsUInt128(sipHash128(${jsonField('event_id')}))) AS event_key,
  ifNull(at, toDateTime64(0, 3, 'UTC')) AS timestamp,
  if(${jsonField('name')} = '', 'pageview', ${jsonField('name')}) AS name,
  ${jsonField('user_id')} AS user_id,
  ifNull(given.anonymous, ${jsonField('user_id')} = '') AS anonymous,
  ${jsonField('session_id')} AS session_id,
  ${jsonField('ip')} AS ip,
  toLowCardinality(${jsonField('user_agent')}) AS user_agent,
  toLowCardinality(if(referrer_host = '' OR own_referrer OR ${jsonField('referrer')} != '', '', ${buildReferrerKey(sql`referrer_host`, sql`path(${jsonField('referrer_url')})`)})) AS referrer_key,
  toLowCardinality(if(position(url_parts[4], 'id=') = 0, '', ${extractClickId(sql`url_parts[4]`)})) AS click_id,
  ${cut(orUrl('origin', buildOrigin(sql`url_parts`)))} AS origin,
  ${cut(orUrl('path', sql`if(url_parts[3] = '', '/', url_parts[3])`))} AS path,
  ${cut(orUrl('hash', sql`substring(url_parts[5], 2)`))} AS hash,
  ${PROPERTIES} AS properties,
  ${join(SESSION_ATTRIBUTES.map(({ column, field }) => sql`${cut(DERIVED.get(field) ?? jsonField(field))} AS ${column}`))},
  multiIf(notEmpty(faults), 'rejected', is_excluded_ip, 'ip', is_excluded_country, 'country', 'kept') AS fate,
  arrayStringConcat(faults, '; ') AS reason,
  multiIf(empty(faults), '', batch = '', ${WITHOUT_ADDRESS}, line) AS rejected_line
FROM (${JUDGED(rows)})`
