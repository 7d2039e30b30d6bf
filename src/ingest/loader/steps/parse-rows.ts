/** Parses the JSON of a load into typed rows, and decides for each whether it is valid. */
import { join, sql, string, uint32, type Sql } from '../../../clickhouse/sql.js'
import { buildReferrerKey, extractClickId } from '../../enrichment/referrer-sql.js'
import {
  EVENT_LIMITS,
  FIELDS_TYPE,
  SESSION_ATTRIBUTES,
  UTM_FIELDS,
} from '../../../model/event-fields.js'
import { VIOLATIONS, REJECTION_REASONS } from './validate-rows.js'
import { jsonField, buildOrigin, decodeParameter, splitUrl } from './json-fields.js'
import type { LoadTables } from './load-tables.js'

/** Truncates texts, so that every group of a response can be sent back in a filter. */
const truncate = (text: Sql): Sql => sql`leftUTF8(${text}, ${uint32(EVENT_LIMITS.maxStoredLength)})`

/** Reads a field of the event, or else its value from the URL. */
const fieldOrUrl = (field: string, fromUrl: Sql): Sql =>
  sql`if(${jsonField(field)} != '' OR empty(url_parts), ${jsonField(field)}, ${fromUrl})`

const readUtm = (field: string): Sql => fieldOrUrl(field, decodeParameter(sql`url_parts`, field))

/** By field: the session attributes that are not read from the field alone. */
const COMPUTED_ATTRIBUTES: ReadonlyMap<string, Sql> = new Map([
  ...UTM_FIELDS.map((field) => [field, readUtm(field)] as const),
  ['referrer_url', sql`if(own_referrer, '', ${jsonField('referrer_url')})`],
])

/** The properties by name. A string is stored as it is, any other value as its JSON text. */
const PROPERTIES = sql`mapFromArrays(
    arrayMap(pair -> pair.1, property_pairs),
    arrayMap(pair -> ${truncate(sql`if(startsWith(pair.2, '"'), JSONExtractString(pair.2), pair.2)`)}, property_pairs))`

/** Parses the JSON. `seq` is the order of arrival: blocks are numbered as they arrive. */
const parseJson = (rows: Sql): Sql => sql`
  SELECT
    bitShiftLeft(toUInt64(_block_number), 32) + _block_offset AS seq, row, batch, fault, line, received_at,
    JSONExtractKeysAndValuesRaw(line) AS pairs,
    JSONExtract(line, ${string(FIELDS_TYPE)}) AS given,
    if(project != '', project, ${jsonField('project')}) AS named_project
  ${rows}`

/** Splits timestamps, URLs and properties into their parts. */
const splitFields = (rows: Sql): Sql => sql`
  SELECT
    *,
    ${jsonField('timestamp')} = '' AND batch = '' AS is_timed_by_arrival,
    if(is_timed_by_arrival, received_at, parseDateTime64BestEffortOrNull(${jsonField('timestamp')}, 3, 'UTC')) AS at,
    ${splitUrl(jsonField('url'))} AS url_parts,
    lower(domain(${jsonField('referrer_url')})) AS referrer_host,
    arrayReverse(JSONExtractKeysAndValuesRaw(given.properties)) AS last_first,
    -- When a name comes twice, the last value counts.
    arrayFilter((pair, nth) -> nth = 1, last_first, arrayEnumerateUniq(last_first.1)) AS property_pairs
  FROM (${parseJson(rows)})`

/** The line as the store keeps it when it is rejected: without its IP address. */
const WITHOUT_ADDRESS = sql`replaceRegexpAll(line, '("ip"\\\\s*:\\\\s*)"[^"]*"', '\\\\1""')`

const ADDRESS = sql`toIPv6OrNull(${jsonField('ip')})`

/** The first and last address of an IP address or a CIDR range (RFC 4632 §3.1); IPv4 is mapped into IPv6. */
const RANGE_OF = sql`if(
      position(excluded, '/') = 0,
      (toIPv6OrDefault(excluded), toIPv6OrDefault(excluded)),
      IPv6CIDRToRange(toIPv6OrDefault(splitByChar('/', excluded)[1]), toUInt8(toUInt8OrZero(splitByChar('/', excluded)[2]) + if(position(excluded, ':') = 0, 96, 0))))`

const PROJECTS = sql`
    SELECT id, domain, excluded_countries, arrayMap(excluded -> ${RANGE_OF}, excluded_ips) AS excluded_ips
    FROM projects FINAL`

/** Joins each row to its project, `known`, and validates it. */
const validateRows = (rows: Sql): Sql => sql`
  SELECT
    parts.*,
    ${VIOLATIONS} AS broken,
    ${REJECTION_REASONS} AS faults,
    notEmpty(known.excluded_ips) AND arrayExists(range -> ifNull(${ADDRESS} BETWEEN range.1 AND range.2, false), known.excluded_ips) AS is_excluded_ip,
    has(known.excluded_countries, ${jsonField('country')}) AS is_excluded_country,
    known.domain != '' AND (referrer_host = known.domain OR endsWith(referrer_host, concat('.', known.domain))) AS own_referrer
  FROM (${splitFields(rows)}) AS parts
  LEFT JOIN (${PROJECTS}) AS known ON known.id = parts.named_project`

/**
 * Parses rows of the inbox into the table `rows`. Its columns are those of an event, as far as the row itself has
 * values for them, and:
 * - `seq`: the order of arrival;
 * - `event_key`: the hash of the event id, 0 without one;
 * - `user_id`: empty when it is to be derived;
 * - `session_id`;
 * - `ip`, `user_agent`, `referrer_key`, `click_id`: what attributes are derived from;
 * - `fate`: the outcome so far: `kept`, `rejected`, or `ip` or `country` when that is excluded;
 * - `reason`, `rejected_line`: of rejected rows.
 *
 * @param rows the FROM clause, with its conditions, that selects the rows
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
  ${truncate(fieldOrUrl('origin', buildOrigin(sql`url_parts`)))} AS origin,
  ${truncate(fieldOrUrl('path', sql`if(url_parts[3] = '', '/', url_parts[3])`))} AS path,
  ${truncate(fieldOrUrl('hash', sql`substring(url_parts[5], 2)`))} AS hash,
  ${PROPERTIES} AS properties,
  ${join(SESSION_ATTRIBUTES.map(({ column, field }) => sql`${truncate(COMPUTED_ATTRIBUTES.get(field) ?? jsonField(field))} AS ${column}`))},
  multiIf(notEmpty(faults), 'rejected', is_excluded_ip, 'ip', is_excluded_country, 'country', 'kept') AS fate,
  arrayStringConcat(faults, '; ') AS reason,
  multiIf(empty(faults), '', batch = '', ${WITHOUT_ADDRESS}, line) AS rejected_line
FROM (${validateRows(rows)})`
