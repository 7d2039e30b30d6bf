/** Parses the JSON of a load into typed rows, and validates each of them. */
import { join, sql, string, uint32, type Sql } from '../../../clickhouse/sql.js'
import { buildReferrerKey, extractClickId } from '../../enrichment/referrer-sql.js'
import {
  EVENT_LIMITS,
  FIELDS_TYPE,
  SESSION_ATTRIBUTES,
  UTM_FIELDS,
} from '../../../model/event-fields.js'
import { PAGEVIEW } from '../../../model/facts.js'
import {
  buildValidation,
  CLASSIFY_REJECTION,
  readField,
  type RowValidation,
} from './validate-rows.js'
import { POSITION } from '../../inbox/position.js'
import { insertStaged, type LoadTables } from './shared/load-tables.js'
import { buildResidence, type LoadedShardName, type Residence } from './residence.js'

/** A URL's scheme, host with port, path, query with its `?`, fragment with its `#` (RFC 3986 §3). */
const URL_PARTS = string(
  String.raw`^([A-Za-z][A-Za-z0-9+.-]*)://(?:[^/?#@]*@)?([^/?#@]+)([^?#]*)(\?[^#]*)?(#.*)?$`,
)

/** Splits a URL into an array of its parts; an empty array for anything but an absolute URL. */
const splitUrl = (url: Sql): Sql => sql`if(${url} = '', [], extractGroups(${url}, ${URL_PARTS}))`

const DEFAULT_PORT = string(String.raw`^(http://.*):80$|^(https://.*):443$`)

/** Builds the origin of a URL, without the default port of its scheme (RFC 6454 §6.2). */
const buildOrigin = (parts: Sql): Sql =>
  sql`replaceRegexpOne(lower(concat(${parts}[1], '://', ${parts}[2])), ${DEFAULT_PORT}, '\\1\\2')`

/**
 * Decodes a parameter of the URL's query; an empty string when it is absent. Invalid UTF-8 is replaced and NUL
 * is dropped, because no filter could ask for either.
 */
const decodeParameter = (parts: Sql, name: string): Sql =>
  sql`replaceAll(toValidUTF8(decodeURLFormComponent(extractURLParameter(${parts}[4], ${string(name)}))), '\\0', '')`

/** Truncates texts, so that every group of a response can be sent back in a filter. */
const truncate = (text: Sql): Sql => sql`leftUTF8(${text}, ${uint32(EVENT_LIMITS.maxStoredLength)})`

/** Reads a field of the event; falls back to the value from its URL. */
const readFieldOrUrl = (field: string, fromUrl: Sql): Sql =>
  sql`if(${readField(field)} != '' OR empty(url_parts), ${readField(field)}, ${fromUrl})`

const readUtm = (field: string): Sql =>
  readFieldOrUrl(field, decodeParameter(sql`url_parts`, field))

/** By field: the session attributes that are not read from the field alone. */
const COMPUTED_ATTRIBUTES: ReadonlyMap<string, Sql> = new Map([
  ...UTM_FIELDS.map((field) => [field, readUtm(field)] as const),
  ['referrer_url', sql`if(own_referrer, '', ${readField('referrer_url')})`],
])

/** The map of properties by name. A string is stored as it is, any other value as its JSON text. */
const PROPERTIES = sql`mapFromArrays(
    arrayMap(pair -> pair.1, property_pairs),
    arrayMap(pair -> ${truncate(sql`if(startsWith(pair.2, '"'), JSONExtractString(pair.2), pair.2)`)}, property_pairs))`

/** Parses the JSON. `seq` is the order of arrival: blocks are numbered as they arrive. */
const parseJson = (rows: Sql): Sql => sql`
  SELECT
    ${POSITION} AS seq, row, batch, fault, line, received_at, age_checked,
    JSONExtractKeysAndValuesRaw(line) AS pairs,
    JSONExtract(line, ${string(FIELDS_TYPE)}) AS given,
    if(project != '', project, ${readField('project')}) AS named_project
  ${rows}`

/** Splits timestamps, URLs and properties into their parts. */
const splitFields = (rows: Sql): Sql => sql`
  SELECT
    *,
    ${readField('timestamp')} = '' AND batch = '' AS is_timed_by_arrival,
    if(is_timed_by_arrival, received_at, parseDateTime64BestEffortOrNull(${readField('timestamp')}, 3, 'UTC')) AS at,
    ${splitUrl(readField('url'))} AS url_parts,
    lower(domain(${readField('referrer_url')})) AS referrer_host,
    arrayReverse(JSONExtractKeysAndValuesRaw(given.properties)) AS last_first,
    -- When a name comes twice, the last value counts.
    arrayFilter((pair, nth) -> nth = 1, last_first, arrayEnumerateUniq(last_first.1)) AS property_pairs
  FROM (${parseJson(rows)})`

/** The name `ip` in JSON, whose characters may be escaped, and the text that follows it. */
const ADDRESS = string(String.raw`("(?:i|\\u0069)(?:p|\\u0070)"\s*:\s*)"(?:[^"\\]|\\.)*"?`)

/** The text of a rejected line, with its IP address blanked: addresses are never stored. */
export const WITHOUT_ADDRESS = sql`replaceRegexpAll(line, ${ADDRESS}, '\\\\1""')`

const PARSED_IP = sql`toIPv6OrNull(${readField('ip')})`

/** The first and last address of an IP address or a CIDR range (RFC 4632 §3.1); IPv4 is mapped into IPv6. */
const ADDRESS_RANGE = sql`if(
      position(excluded, '/') = 0,
      (toIPv6OrDefault(excluded), toIPv6OrDefault(excluded)),
      IPv6CIDRToRange(toIPv6OrDefault(splitByChar('/', excluded)[1]), toUInt8(toUInt8OrZero(splitByChar('/', excluded)[2]) + if(position(excluded, ':') = 0, 96, 0))))`

const selectProjects = ({ column }: Residence): Sql => sql`
    SELECT id, domain, excluded_countries, arrayMap(excluded -> ${ADDRESS_RANGE}, excluded_ips) AS excluded_ips${column}
    FROM projects FINAL`

/** Joins each row to its project, `known`, and validates it. */
const validateRows = (
  rows: Sql,
  { violations, reasons }: RowValidation,
  residence: Residence,
): Sql => sql`
  SELECT
    parts.*,${residence.select}
    known.id = '' AS is_unknown,
    ${violations} AS broken,
    ${reasons} AS faults,
    notEmpty(known.excluded_ips) AND arrayExists(range -> ifNull(${PARSED_IP} BETWEEN range.1 AND range.2, false), known.excluded_ips) AS is_excluded_ip,
    has(known.excluded_countries, ${readField('country')}) AS is_excluded_country,
    known.domain != '' AND (referrer_host = known.domain OR endsWith(referrer_host, concat('.', known.domain))) AS own_referrer
  FROM (${splitFields(rows)}) AS parts
  LEFT JOIN (${selectProjects(residence)}) AS known ON known.id = parts.named_project`

/** What the parsing of rows depends on besides them. */
interface ParseContext {
  readonly maxEventAgeDays: number
  readonly shard?: LoadedShardName | undefined
}

/**
 * Parses rows of the inbox into the table `rows`. Its columns are those of an event that can be read from the row
 * itself, and:
 * - `seq`: the order of arrival;
 * - `event_key`: the hash of the event id, 0 without one;
 * - `user_id`: empty when it is derived later;
 * - `session_id`;
 * - `ip`, `user_agent`, `referrer_key`, `click_id`: the values that attributes are derived from;
 * - `fate`: the outcome so far: `kept`, `rejected`, `ip` or `country` when the project excludes it, or `forwarded` when it lives
 *   on another shard;
 * - `reason`, `rejected_line`: why the row was rejected, and its text; empty for other rows;
 * - `rejection`: the same reason, as one of REJECTIONS; empty for a row of an import that lives on another shard;
 * - `received_on`: the day of its arrival (UTC).
 *
 * @param rows the FROM clause, with its conditions, that selects the rows
 * @param context the age limit for events of the stream, and the shard of a cluster
 * @param isUnnumbered whether the user of a row, identified by `seq`, gets no number
 */
export const parseRows = (
  tables: LoadTables,
  rows: Sql,
  { maxEventAgeDays, shard }: ParseContext,
  isUnnumbered?: Sql,
  residence = buildResidence(shard),
): Sql =>
  insertStaged(
    tables,
    'rows',
    sql`
SELECT
  seq, row,
  toLowCardinality(named_project) AS project_id,
  if(${readField('event_id')} = '', toUInt128(0), reinterpretAsUInt128(sipHash128(${readField('event_id')}))) AS event_key,
  ifNull(at, toDateTime64(0, 3, 'UTC')) AS timestamp,
  if(${readField('name')} = '', ${PAGEVIEW}, ${readField('name')}) AS name,
  ${readField('user_id')} AS user_id,
  ifNull(given.anonymous, ${readField('user_id')} = '') AS anonymous,
  ${readField('session_id')} AS session_id,
  ${readField('ip')} AS ip,
  toLowCardinality(${truncate(readField('user_agent'))}) AS user_agent,
  toLowCardinality(if(referrer_host = '' OR own_referrer OR ${readField('referrer')} != '', '', ${buildReferrerKey(sql`referrer_host`, sql`path(${readField('referrer_url')})`)})) AS referrer_key,
  toLowCardinality(if(position(url_parts[4], 'id=') = 0, '', ${extractClickId(sql`url_parts[4]`)})) AS click_id,
  ${truncate(readFieldOrUrl('origin', buildOrigin(sql`url_parts`)))} AS origin,
  ${truncate(readFieldOrUrl('path', sql`if(url_parts[3] = '', '/', url_parts[3])`))} AS path,
  ${truncate(readFieldOrUrl('hash', sql`substring(url_parts[5], 2)`))} AS hash,
  ${PROPERTIES} AS properties,
  ${join(SESSION_ATTRIBUTES.map(({ column, field }) => sql`${truncate(COMPUTED_ATTRIBUTES.get(field) ?? readField(field))} AS ${column}`))},
  multiIf(${residence.leaves}notEmpty(faults), 'rejected', ${residence.fate}is_excluded_ip, 'ip', is_excluded_country, 'country', 'kept') AS fate,
  ${residence.explain(sql`arrayStringConcat(faults, '; ')`)} AS reason,
  multiIf(empty(faults), '', batch = '', ${WITHOUT_ADDRESS}, line) AS rejected_line,
  toLowCardinality(${CLASSIFY_REJECTION}) AS rejection,
  toDate(received_at) AS received_on
FROM (${validateRows(rows, buildValidation(maxEventAgeDays, isUnnumbered), residence)})`,
  )
