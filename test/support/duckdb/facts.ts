/** Derives events, users, sessions and their attributes from sent events. */
import { join, raw, sql, type Sql } from './sql.js'
import { SESSION_ATTRIBUTES } from '../world/attributes.js'

/** What a project does not track. */
export interface Exclusions {
  readonly ips: readonly string[]
  readonly countries: readonly string[]
  /** The user agents of bots. */
  readonly botAgents: readonly string[]
}

const isNoneOf = (column: string, values: readonly string[]): Sql =>
  values.length === 0
    ? sql`TRUE`
    : sql`${raw(column)} NOT IN (${join(values.map((one) => sql`${one}`))})`

/** Creates the table `tracked`: sent events that are neither excluded nor a repetition of an id that arrived earlier. */
export const createTrackedEvents = ({ ips, countries, botAgents }: Exclusions): Sql => sql`
CREATE TABLE tracked AS
SELECT * FROM sent
WHERE ${isNoneOf('ip', ips)} AND ${isNoneOf('country', countries)} AND ${isNoneOf('user_agent', botAgents)}
QUALIFY event_id = '' OR row_number() OVER (PARTITION BY event_id ORDER BY arrival) = 1`

/** The user of an event: the given one, else one for an address and a user agent, of the day on which the visit began. */
const USER = sql`CASE
  WHEN user_id <> '' THEN ['named', user_id]
  ELSE ['derived', strftime(visit_day, '%Y-%m-%d'), ip, user_agent] END`

/** Who sent an event. Events with a session id are a series of their own. */
const SERIES = sql`PARTITION BY user_id, ip, user_agent, session_id`

/**
 * Creates the table `visit_days`: the day on which the visit of an event began, for events without a user id. A visit that lasts
 * over two midnights counts as another from the second on, and so on. A session id is good for the day after an event of it.
 */
const CREATE_VISIT_DAYS = sql`
CREATE TABLE visit_days AS
WITH
  chained AS (
    SELECT *, CASE
      WHEN lag(arrival) OVER chain IS NULL THEN TRUE
      WHEN session_id = '' THEN occurred - lag(occurred) OVER chain > INTERVAL 30 MINUTE
      ELSE date_diff('day', lag(occurred) OVER chain, occurred) > 1 END AS starts
    FROM tracked
    WINDOW chain AS (${SERIES} ORDER BY occurred, arrival)
  ),
  counted AS (
    SELECT *, count(*) FILTER (starts) OVER (${SERIES} ORDER BY occurred, arrival ROWS UNBOUNDED PRECEDING) AS series FROM chained
  ),
  aged AS (
    SELECT arrival, occurred, date_diff('day', first(occurred) OVER (PARTITION BY user_id, ip, user_agent, session_id, series ORDER BY occurred, arrival), occurred) AS age
    FROM counted
  )
SELECT arrival, CAST(occurred AS DATE) - CAST(age % 2 AS INTEGER) AS visit_day FROM aged`

/**
 * Creates the table `hits`: tracked events with their `user` and `session`. Events of a user with the same session id are one
 * session; other events of a user are, while no pause is longer than 30 minutes.
 */
const CREATE_HITS = sql`
CREATE TABLE hits AS
WITH
  of_users AS (SELECT tracked.*, ${USER} AS "user" FROM tracked JOIN visit_days USING (arrival)),
  beginnings AS (
    SELECT *, coalesce(session_id = '' AND occurred - lag(occurred) OVER earlier > INTERVAL 30 MINUTE, FALSE) AS begins
    FROM of_users
    WINDOW earlier AS (PARTITION BY "user", session_id ORDER BY occurred, arrival)
  ),
  numbered AS (
    SELECT *, count(*) FILTER (begins) OVER (PARTITION BY "user", session_id ORDER BY occurred, arrival ROWS UNBOUNDED PRECEDING) AS nth
    FROM beginnings
  )
SELECT *, dense_rank() OVER (ORDER BY "user", session_id, nth) AS session FROM numbered`

const TYPES = sql`MAP {'direct': 'Direct', 'search': 'Organic Search', 'social': 'Organic Social', 'email': 'Email', 'llm': 'AI Assistants'}`
/** The channel of a session, of the sources that random events have. */
const CHANNEL = sql`CASE
  WHEN referrer_type = 'paid' AND source IN ('google', 'adwords', 'bing.com', 'bing-ads') THEN 'Paid Search'
  WHEN referrer_type = 'paid' AND (source IN ('facebook', 'facebook-ads', 't.co') OR medium LIKE '%social%') THEN 'Paid Social'
  WHEN referrer_type = 'paid' AND (medium LIKE '%search%' OR medium = 'sem') THEN 'Paid Search'
  WHEN referrer_type = 'unknown' AND medium IN ('referral', 'referrer', 'link') THEN 'Referral'
  WHEN referrer_type = 'unknown' AND medium = '' AND trim(referrer) <> '' THEN 'Referral'
  ELSE coalesce(${TYPES}[referrer_type], 'Other') END`

/** Creates the table `sessions`. A session has the attributes of its first event, and the entry page of its first pageview. */
const CREATE_SESSIONS = sql`
CREATE TABLE sessions AS
WITH own AS (SELECT
  session,
  min(occurred) AS start_at,
  epoch_ms(max(occurred)) - epoch_ms(min(occurred)) AS duration_ms,
  count(*) FILTER (name = 'pageview') AS pageviews,
  count(*) FILTER (name <> 'pageview') AS custom_events,
  count(*) FILTER (name NOT IN ('pageview', 'pageleave')) AS interactions,
  first(origin ORDER BY occurred, arrival) FILTER (name = 'pageview') AS entry_origin,
  first(path ORDER BY occurred, arrival) FILTER (name = 'pageview') AS entry_path,
  last(path ORDER BY occurred, path) FILTER (name = 'pageview') AS exit_path,
  ${join(SESSION_ATTRIBUTES.map((name) => raw(`first(${name} ORDER BY occurred, arrival) AS ${name}`)))}
FROM hits GROUP BY session),
  read AS (
    SELECT *, lower(trim(utm_medium)) AS medium, lower(trim(CASE utm_source WHEN '' THEN referrer ELSE utm_source END)) AS source
    FROM own)
SELECT * EXCLUDE (medium, source), ${CHANNEL} AS channel, coalesce(entry_path, '') AS page_entry, coalesce(exit_path, '') AS page_exit
FROM read`

/** Creates the table `events`: what filters and groupings look at. */
const CREATE_EVENTS = sql`
CREATE TABLE events AS
SELECT
  hits.arrival, hits.occurred, min(hits.occurred) OVER (PARTITION BY hits.user) AS first_occurred, hits.user, hits.session, hits.name, hits.anonymous, hits.origin, hits.path, hits.hash,
  ${join([...SESSION_ATTRIBUTES, 'channel', 'page_entry', 'page_exit'].map((name) => raw(`sessions.${name}`)))}
FROM hits JOIN sessions USING (session)`

/** Creates the table `visits`: the sessions with a pageview. */
const CREATE_VISITS = sql`
CREATE TABLE visits AS
SELECT *, pageviews = 1 AND interactions = 0 AS is_bounce FROM sessions WHERE pageviews > 0`

/** The statements that derive `events` and `visits` from `tracked`, in their order. */
export const DERIVE_FACTS: readonly Sql[] = [
  CREATE_VISIT_DAYS,
  CREATE_HITS,
  CREATE_SESSIONS,
  CREATE_EVENTS,
  CREATE_VISITS,
]
