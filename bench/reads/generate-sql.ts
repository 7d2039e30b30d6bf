/** The generated year in SQL. A visit follows from its number, so each run has the same visits. */
import { join, sql, string, uint64, type Sql } from '../../src/clickhouse/sql.js'
import { hashUserId } from '../../src/ingest/loader/steps/users/user-numbers.js'
import { SESSION_ATTRIBUTES } from '../../src/model/event-fields.js'
import { LIVE } from '../../src/model/rollup-table-sets.js'
import { defineNumberView } from '../../src/rollups/number-view.js'

/**
 * How users come back. `often`: ten visits of each, always with the same device. `seldom`, as on the web: seven in ten visits are a user's only
 * one, as each day of a visitor without cookies is, and one in twenty of the other users comes with two devices.
 */
export type Returning = 'often' | 'seldom'

/** The totals. */
export interface Scale {
  readonly events: number
  readonly visits: number
  readonly returning: Returning
}

/** A range of visits, by number. */
export interface Slice {
  readonly from: number
  readonly count: number
}

/** The mean events of a visit: four in ten have one, the others a geometric number. */
const MEAN_EVENTS = 4.016

export const computeScale = (events: number, returning: Returning = 'often'): Scale => ({
  events,
  visits: Math.round(events / MEAN_EVENTS),
  returning,
})

/** Writes a number from 0 to 1 that depends on the seed only. */
const writeChance = (seed: Sql): Sql => sql`(sipHash64(${seed}) / 18446744073709551616.)`
/** Writes an integer from 1 to a limit, log-uniform: few are frequent, many are rare. */
const writeRank = (limit: Sql, seed: Sql): Sql => sql`toUInt32(pow(${limit}, ${writeChance(seed)}))`

/** Writes the number of the user, and what the device of a visit follows from. */
const RETURNING: Readonly<Record<Returning, { user: Sql; owner: Sql }>> = {
  often: { user: sql`known`, owner: sql`person` },
  seldom: {
    // Users of one visit have the numbers after all others.
    user: sql`if(sipHash64(n, 13) % 10 < 7, toUInt32(population) + 1 + n, known)`,
    owner: sql`if(sipHash64(person, 14) % 20 = 0, sipHash64(person, n % 2), person)`,
  },
}

/**
 * Selects one row per visit. The project `large` has 40 % of the visits, 200 small projects share the rest. Visits
 * are in order of time. A project gains users over time: they are numbered nearly in order of appearance.
 */
const selectVisits = ({ events, visits, returning }: Scale, { from, count }: Slice): Sql => sql`
SELECT
  n,
  n / ${uint64(visits)} AS part,
  if(n % 5 < 2, 0, 1 + sipHash64(n, 1) % 200) AS p,
  if(p = 0, 'large', concat('small-', leftPad(toString(p), 3, '0'))) AS project_id,
  ${uint64(events)} / 40 * if(p = 0, 0.4, 0.6 / 200) AS population,
  toUInt32(1 + floor(population * (0.2 + 0.8 * part) * (1 - pow(${writeChance(sql`n, 2`)}, 3)))) AS known,
  ${RETURNING[returning].user} AS user,
  sipHash64(p, user) AS person,
  ${RETURNING[returning].owner} AS owner,
  n + 1 AS session,
  toDateTime64('2025-01-01 00:00:00', 3, 'UTC')
    + toIntervalMillisecond(toInt64(part * (365 * 86400000. - 7200000)) + sipHash64(n, 3) % 3600000) AS start_at,
  if(sipHash64(n, 4) % 100 < 40, 1, 2 + least(58, toUInt32(floor(-4.5 * log(1 - ${writeChance(sql`n, 5`)}))))) AS length,
  arrayMap(i -> start_at + toIntervalMillisecond(i * (5000 + sipHash64(n, 6) % 55000)), range(length)) AS times,
  arrayMap(
    i -> if(sipHash64(n, 7, i) % 100 < 85, 'pageview', concat('event-', toString(${writeRank(sql`20`, sql`n, 8, i`)}))),
    range(length)) AS names,
  arrayMap(i -> concat('/section/', toString(${writeRank(sql`5000`, sql`n, 9, i`)})), range(length)) AS paths,
  ${writeRank(sql`200`, sql`person`)} AS place,
  concat(char(65 + place % 20), char(65 + intDiv(place, 20) % 20)) AS country,
  concat(country, '-', toString(1 + place % 7)) AS region,
  ['en', 'de', 'fr', 'es', 'pt'][${writeRank(sql`5.9`, sql`person, 5`)}] AS language,
  concat('City ', toString(place), '-', toString(${writeRank(sql`30`, sql`person, 1`)})) AS city,
  ['Chrome', 'Safari', 'Edge', 'Firefox', 'Samsung Internet', 'Opera', 'DuckDuckGo'][${writeRank(sql`8`, sql`owner, 2`)}] AS browser,
  ['desktop', 'mobile', 'tablet'][${writeRank(sql`3.9`, sql`owner, 3`)}] AS device_type,
  ['Windows', 'Android', 'iOS', 'macOS', 'Linux', 'ChromeOS'][${writeRank(sql`6.9`, sql`owner, 4`)}] AS os,
  sipHash64(n, 10) AS came,
  multiIf(came % 100 < 40, 'direct', came % 100 < 75, 'search', came % 100 < 90, 'social', 'unknown') AS referrer_type,
  if(referrer_type = 'direct', '', concat('referrer-', toString(${writeRank(sql`300`, sql`n, 11`)}))) AS referrer,
  if(referrer = '', '', concat('https://', referrer, '.example/', toString(came % 7))) AS referrer_url,
  came % 10 = 0 AS has_campaign,
  if(has_campaign, concat('source-', toString(came % 9)), '') AS utm_source,
  if(has_campaign, concat('medium-', toString(came % 5)), '') AS utm_medium,
  if(has_campaign, concat('campaign-', toString(came % 47)), '') AS utm_campaign,
  if(has_campaign, concat('content-', toString(came % 19)), '') AS utm_content,
  if(has_campaign, concat('term-', toString(came % 23)), '') AS utm_term
FROM (SELECT number AS n FROM numbers_mt(${uint64(from)}, ${uint64(count)}))`

const ATTRIBUTES = join(SESSION_ATTRIBUTES.map(({ column }) => column))

/** Selects from the visits, such as those of one project. */
export type SelectSome = (visits: Sql) => Sql

/** Inserts the events of some visits: 85 % are pageviews, the others have two properties. */
export const insertEvents = (
  scale: Scale,
  slice: Slice,
  select: SelectSome = (visits) => visits,
): Sql => sql`
INSERT INTO events (project_id, timestamp, user, session, load, name, anonymous, origin, path, hash, properties, ${ATTRIBUTES})
SELECT
  project_id, at, user, session, 1, what, sipHash64(person, 9) % 4 != 0, 'https://example.com', page, '',
  if(what = 'pageview', map(), map(
    'plan', ['free', 'pro', 'team', 'trial', 'max'][1 + person % 5],
    'button', concat('b', toString(sipHash64(at) % 50)))),
  ${ATTRIBUTES}
FROM (${select(selectVisits(scale, slice))})
ARRAY JOIN times AS at, names AS what, paths AS page`

/** Properties with numbers that custom events get: `amount` has two decimals and many values, `quantity` few. */
const NUMBERS = [
  {
    property: 'amount',
    number: sql`toDecimal64(${writeRank(sql`500000`, sql`session, timestamp, 12`)}, 2) / 100`,
  },
  { property: 'quantity', number: writeRank(sql`200`, sql`session, timestamp, 13`) },
]

/**
 * Adds these properties to all custom events and counts the events by their values, unless that is done. Then replaces the sums of numbers.
 * The generated year is without these properties, so the data of other figures stay. Their users are not counted: no question may group by them.
 */
export const ADD_NUMBERS: readonly Sql[] = [...NUMBERS.flatMap(addNumber), ...sumNumbers()]

function addNumber({ property, number }: (typeof NUMBERS)[number]): readonly Sql[] {
  const [name, dimension] = [string(property), string(`event:prop:${property}`)]
  const count = (table: Sql, date: Sql): Sql => sql`
INSERT INTO ${table}
SELECT project_id, ${dimension}, properties[${name}] AS number, ${date} AS date, 0, count()
FROM events WHERE mapContains(properties, ${name}) AND (SELECT count() = 0 FROM ${table} WHERE dimension = ${dimension})
GROUP BY project_id, number, date`
  return [
    sql`
ALTER TABLE events UPDATE properties = mapConcat(properties, CAST(
  map(${name}, toString(${number})), 'Map(LowCardinality(String), String)'))
WHERE name != 'pageview' AND NOT mapContains(properties, ${name})`,
    count(sql`events_daily`, sql`toDate(timestamp)`),
    count(sql`events_monthly`, sql`toStartOfMonth(timestamp)`),
  ]
}

/** Replaces the sums of numbers of large projects. */
function sumNumbers(): readonly Sql[] {
  const { target, select } = defineNumberView({
    ...LIVE,
    eventChanges: sql`(SELECT *, toInt8(1) AS sign FROM events) AS event_changes`,
  })
  return [sql`TRUNCATE TABLE ${target}`, sql`INSERT INTO ${target} ${select}`]
}

/** Inserts the same visits as sessions. */
export const insertSessions = (
  table: Sql,
  scale: Scale,
  slice: Slice,
  select: SelectSome = (visits) => visits,
): Sql => sql`
INSERT INTO ${table} (
  project_id, session, load, sign, user, session_id, start_at, end_at, pageviews, events,
  entry_origin, entry_path, entry_at, exit_path, exit_at, ${ATTRIBUTES})
SELECT
  project_id, session, 1, 1, user, '', times[1], times[-1], countEqual(names, 'pageview') AS viewed, length - viewed,
  if(viewed > 0, 'https://example.com', ''), if(viewed > 0, paths[indexOf(names, 'pageview')], ''),
  times[greatest(1, indexOf(names, 'pageview'))],
  if(viewed > 0, paths[arrayLastIndex(name -> name = 'pageview', names)], ''),
  times[if(viewed > 0, arrayLastIndex(name -> name = 'pageview', names), -1)], ${ATTRIBUTES}
FROM (${select(selectVisits(scale, slice))})`

export const INSERT_USERS = sql`
INSERT INTO users (project_id, user_id, user, load)
SELECT project_id, concat('user-', toString(user)), user, 1
FROM (SELECT DISTINCT project_id, user FROM sessions)`

/** Records what loads look up of the users: the number of each by its key, and the last number of each project. */
export const INDEX_USERS: readonly Sql[] = [
  sql`
INSERT INTO user_keys (project_id, user_key, user, load)
SELECT project_id, ${hashUserId(sql`user_id`)}, user, load FROM users`,
  sql`INSERT INTO user_counts (project_id, last) SELECT project_id, max(user) FROM users GROUP BY project_id`,
]
