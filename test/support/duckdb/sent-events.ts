/** Reads the fields of sent events, by the rules of the collector's contract. */
import { SESSION_ATTRIBUTES } from '../world/attributes.js'
import { join, raw, sql, type Sql } from './sql.js'

/** Longer texts by which queries group or filter are cut, counted in code points. */
const MAX_LENGTH = '1024'

const ID_FIELDS = ['event_id', 'user_id', 'session_id', 'ip']
const CUT_FIELDS = ['origin', 'path', 'hash', 'user_agent', ...SESSION_ATTRIBUTES]

/** The text of a field; empty when the field is absent or null. */
const readText = (field: string): Sql => raw(`coalesce(line ->> '$.${field}', '')`)

const cut = (text: Sql): Sql => sql`left(${text}, ${raw(MAX_LENGTH)})`

/** The host of the URL that linked here. */
const REFERRER_HOST = sql`lower(regexp_extract(referrer_url, '^[a-z]+://([^/?#:]+)', 1))`

/** Whether a host is that of the project, or one below it. */
const isOwnHost = (domain: string): Sql =>
  sql`(${REFERRER_HOST} = ${domain} OR ends_with(${REFERRER_HOST}, '.' || ${domain}))`

/** Fields of which any makes a session something else than direct traffic. */
const HINTS = ['referrer', 'utm_source', 'utm_medium', 'utm_campaign', 'utm_content', 'utm_term']

/** The given type; without one, sent values are none that the list of referrers knows. */
const REFERRER_TYPE = sql`CASE
    WHEN referrer_type <> '' THEN referrer_type
    WHEN ${join(
      HINTS.map((field) => raw(`${field} <> ''`)),
      ' OR ',
    )} THEN 'unknown'
    ELSE 'direct' END`

const PARSE = sql`
  SELECT
    CAST(arrival AS INTEGER) AS arrival, line,
    date_trunc('millisecond', CAST(line ->> '$.timestamp' AS TIMESTAMPTZ) AT TIME ZONE 'UTC') AS occurred,
    coalesce(line ->> '$.name', 'pageview') AS name,
    coalesce(CAST(line ->> '$.anonymous' AS BOOLEAN), coalesce(line ->> '$.user_id', '') = '') AS anonymous,
    ${join(ID_FIELDS.map((field) => sql`${readText(field)} AS ${raw(field)}`))},
    ${join(CUT_FIELDS.map((field) => sql`${cut(readText(field))} AS ${raw(field)}`))}
  FROM lines`

/** Creates the table `sent`: the lines as typed fields. `domain` is that of the project: it is no referrer. */
export const createSentEvents = (domain: string): Sql => sql`
CREATE TABLE sent AS
SELECT * REPLACE (
  CASE WHEN ${isOwnHost(domain)} THEN '' ELSE referrer_url END AS referrer_url,
  ${REFERRER_TYPE} AS referrer_type)
FROM (${PARSE})`

/** Creates the table `properties`: one row per property of a sent event. Values other than strings are JSON text. */
export const CREATE_PROPERTIES = sql`
CREATE TABLE properties AS
SELECT
  sent.arrival AS arrival, entry.key AS name,
  ${cut(sql`CASE entry.type WHEN 'VARCHAR' THEN entry.value ->> '$' ELSE CAST(entry.value AS VARCHAR) END`)} AS value
FROM sent, json_each(sent.line, '$.properties') AS entry
WHERE entry.key IS NOT NULL`
