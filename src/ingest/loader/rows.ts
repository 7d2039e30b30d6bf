/** First step of a load: reads the JSON of a batch into typed rows, and settles the fate of each. */
import { join, sql, string, type Sql } from '../../clickhouse/sql.js'
import { FIELDS_TYPE, SESSION_ATTRIBUTES } from '../fields.js'
import { BROKEN, FAULTS } from './faults.js'
import { given, hasClickId, originOf, parameterOf, partsOf } from './given.js'
import type { LoadTables } from './tables.js'

/** Longer texts are cut: what is returned as a group can always be sent back in a filter. */
const cut = (text: Sql): Sql => sql`leftUTF8(${text}, 1024)`

/** A field of the event, or else what its URL says. */
const orUrl = (field: string, fromUrl: Sql): Sql =>
  sql`if(${given(field)} != '' OR empty(url_parts), ${given(field)}, ${fromUrl})`

const UTM_FIELDS = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_content', 'utm_term']
const utm = (field: string): Sql => orUrl(field, parameterOf(sql`url_parts`, field))

/** Whether anything tells where the visit came from. */
const HINTED = sql`named_referrer != '' OR ${hasClickId(sql`url_parts`)} OR notEmpty(concat(${join(UTM_FIELDS.map(utm))}))`

/** Session attributes that are more than the field of their name. */
const DERIVED: ReadonlyMap<string, Sql> = new Map([
  ...UTM_FIELDS.map((field) => [field, utm(field)] as const),
  ['referrer', sql`named_referrer`],
  ['referrer_url', sql`if(own_referrer, '', ${given('referrer_url')})`],
  [
    'referrer_type',
    sql`multiIf(${given('referrer_type')} != '', ${given('referrer_type')}, ${HINTED}, 'unknown', 'direct')`,
  ],
])

/** A property's value: a string as it is, anything else as its JSON text. */
const PROPERTIES = sql`mapFromArrays(
    arrayMap(pair -> pair.1, property_pairs),
    arrayMap(pair -> ${cut(sql`if(startsWith(pair.2, '"'), JSONExtractString(pair.2), pair.2)`)}, property_pairs))`

const PARSED = (batch: string): Sql => sql`
  SELECT
    _part_starting_offset + _part_offset AS seq, row, line,
    JSONExtractKeysAndValuesRaw(line) AS pairs,
    JSONExtract(line, ${string(FIELDS_TYPE)}) AS given,
    if(project != '', project, ${given('project')}) AS named_project
  FROM inbox
  WHERE batch = ${string(batch)}`

const TAKEN_APART = (batch: string): Sql => sql`
  SELECT
    *,
    parseDateTime64BestEffortOrNull(${given('timestamp')}, 3, 'UTC') AS at,
    ${partsOf(given('url'))} AS url_parts,
    lower(domain(${given('referrer_url')})) AS referrer_host,
    arrayReverse(JSONExtractKeysAndValuesRaw(given.properties)) AS last_first,
    -- Of a name that is given twice the last value counts.
    arrayFilter((pair, nth) -> nth = 1, last_first, arrayEnumerateUniq(last_first.1)) AS property_pairs
  FROM (${PARSED(batch)})`

/** Each row beside its project, `known`. */
const JUDGED = (batch: string): Sql => sql`
  SELECT
    parts.*,
    ${BROKEN} AS broken,
    ${FAULTS} AS faults,
    has(known.excluded_countries, ${given('country')})
      OR has(arrayMap(excluded -> toIPv6OrDefault(excluded), known.excluded_ips), toIPv6OrNull(${given('ip')})) AS is_excluded,
    known.domain != '' AND (referrer_host = known.domain OR endsWith(referrer_host, concat('.', known.domain))) AS own_referrer,
    if(${given('referrer')} != '' OR own_referrer, ${given('referrer')}, replaceRegexpOne(referrer_host, '^www[.]', '')) AS named_referrer
  FROM (${TAKEN_APART(batch)}) AS parts
  LEFT JOIN (SELECT id, domain, excluded_ips, excluded_countries FROM projects FINAL) AS known ON known.id = parts.named_project`

/**
 * Reads the rows of a batch into the table `rows`. Its columns: those of an event, `seq` (order of arrival),
 * `event_key` (hash of the event id, 0 without one), `user_id` (empty where it is to be derived),
 * `session_id`, `fate` (`kept`, `excluded` or `rejected`), `reason` and, for rejected rows, `rejected_line`.
 */
export const readRows = (tables: LoadTables, batch: string): Sql => sql`
CREATE TABLE ${tables.rows} ENGINE = MergeTree ORDER BY seq AS
SELECT
  seq, row,
  toLowCardinality(named_project) AS project_id,
  if(${given('event_id')} = '', toUInt128(0), reinterpretAsUInt128(sipHash128(${given('event_id')}))) AS event_key,
  ifNull(at, toDateTime64(0, 3, 'UTC')) AS timestamp,
  if(${given('name')} = '', 'pageview', ${given('name')}) AS name,
  ${given('user_id')} AS user_id,
  ifNull(given.anonymous, ${given('user_id')} = '') AS anonymous,
  ${given('session_id')} AS session_id,
  ${given('ip')} AS ip,
  ${given('user_agent')} AS user_agent,
  ${cut(orUrl('origin', originOf(sql`url_parts`)))} AS origin,
  ${cut(orUrl('path', sql`if(url_parts[3] = '', '/', url_parts[3])`))} AS path,
  ${cut(orUrl('hash', sql`substring(url_parts[5], 2)`))} AS hash,
  ${PROPERTIES} AS properties,
  ${join(SESSION_ATTRIBUTES.map(({ column, field }) => sql`${cut(DERIVED.get(field) ?? given(field))} AS ${column}`))},
  multiIf(notEmpty(faults), 'rejected', is_excluded, 'excluded', 'kept') AS fate,
  arrayStringConcat(faults, '; ') AS reason,
  if(notEmpty(faults), line, '') AS rejected_line
FROM (${JUDGED(batch)})`
