/** The materialized views that fill the rollups, as the table of dimensions says. */
import { TOTAL } from '../analytics/plan/coverage.js'
import { DIMENSIONS, type DimensionRow } from '../model/dimensions.js'
import type { RollupSubject } from '../model/relations.js'
import { PROPERTY_PREFIX } from '../analytics/request/query.js'
import { join, sql, string, strings, uint32, type Sql } from '../clickhouse/sql.js'
import { COUNTED_ATTRIBUTES } from '../model/fact-columns.js'
import type { RollupTables } from '../model/rollup-tables.js'

export interface View {
  /** Its name, behind that of the table it fills. */
  readonly name: string
  readonly target: Sql
  readonly select: Sql
}

interface Group {
  readonly family: RollupSubject
  readonly dimension: string
  readonly value: Sql
}

const ROWS = Object.entries(DIMENSIONS).map(([dimension, row]) => ({ dimension, ...row }))

/** The groups of a family, each with the column that its value is taken from. */
function groupsOf(
  family: RollupSubject,
  value: (row: DimensionRow) => Sql | undefined,
): readonly Group[] {
  return ROWS.filter(({ rollupSubject }) => rollupSubject === family).flatMap((row) => {
    const column = value(row)
    return column === undefined ? [] : [{ family, dimension: row.dimension, value: column }]
  })
}

const WHOLE: Group = { family: 'sessions', dimension: TOTAL, value: sql`''` }
const ATTRIBUTES = COUNTED_ATTRIBUTES.map(({ dimension, column }): Group => ({
  family: 'sessions',
  dimension,
  value: column,
}))
const PAGES = groupsOf('pageviews', ({ eventColumn }) => eventColumn)
const ENTRIES = groupsOf('pageviews', ({ entryColumn }) => entryColumn)
const NAMES = groupsOf('events', ({ eventColumn }) => eventColumn)
/** The last of a list: one group for each property, whose name is still to come. */
const PROPERTIES = { family: 'events', dimension: PROPERTY_PREFIX } as const

/** While rows are counted a group is its place in a list: short keys are quick ones. */
function placed(groups: readonly Omit<Group, 'value'>[], property = sql`''`): Sql {
  const family = strings(groups.map((group) => group.family))
  const dimension = strings(groups.map((group) => group.dimension))
  return sql`project_id, ${family}[place] AS family, concat(${dimension}[place], ${property}) AS dimension, value, day`
}
const places = (groups: readonly Group[]): Sql =>
  sql`[${join(groups.map((_, i) => uint32(i + 1)))}]`
const values = (groups: readonly Group[]): Sql =>
  sql`[${join(groups.map(({ value }) => sql`toString(${value})`))}]`

const OF_EVENTS = sql`groupBitmapStateIf(user, sign > 0) AS users, sum(sign * of_pageviews) AS pageviews, sum(sign * of_events) AS events`

/** The events of a session have its attributes in common: they are added up first. */
function attributes({ eventChanges, rollupChanges }: RollupTables): View {
  const groups = [WHOLE, ...ATTRIBUTES]
  const one = (column: Sql): Sql => sql`of_${column}`
  const shared = ATTRIBUTES.map(({ value }) => sql`any(${value}) AS ${one(value)}`)
  const taken = [WHOLE, ...ATTRIBUTES.map((group) => ({ ...group, value: one(group.value) }))]
  return {
    name: 'attributes',
    target: rollupChanges,
    select: sql`
SELECT ${placed(groups)}, ${OF_EVENTS}
FROM (
  SELECT
    project_id, toDate(timestamp) AS day, sign, any(user) AS user,
    countIf(name = 'pageview') AS of_pageviews, countIf(name != 'pageview') AS of_events, ${join(shared)}
  FROM ${eventChanges}
  GROUP BY project_id, day, session, sign
)
ARRAY JOIN ${places(taken)} AS place, ${values(taken)} AS value
GROUP BY project_id, place, value, day`,
  }
}

function pagesAndNames({ eventChanges, rollupChanges }: RollupTables): View {
  const groups = [...PAGES, ...NAMES]
  const none = sql`[${join(groups.map(() => sql`''`))}]`
  const last = uint32(groups.length + 1)
  return {
    name: 'pages_and_names',
    target: rollupChanges,
    select: sql`
SELECT ${placed([...groups, PROPERTIES], sql`property`)}, ${OF_EVENTS}
FROM (
  SELECT
    project_id, toDate(timestamp) AS day, sign, user, name = 'pageview' AS of_pageviews, name != 'pageview' AS of_events,
    arrayConcat(${places(groups)}, arrayMap(name -> ${last}, mapKeys(properties))) AS places,
    arrayConcat(${none}, mapKeys(properties)) AS names,
    arrayConcat(${values(groups)}, mapValues(properties)) AS texts
  FROM ${eventChanges}
)
ARRAY JOIN places AS place, names AS property, texts AS value
GROUP BY project_id, place, property, value, day`,
  }
}

function visits({ sessions, rollupChanges }: RollupTables): View {
  const groups = [WHOLE, ...ATTRIBUTES, ...ENTRIES]
  return {
    name: 'visits',
    target: rollupChanges,
    select: sql`
SELECT
  ${placed(groups)},
  sum(toInt64(sign)) AS visits,
  sumIf(toInt64(sign), pageviews = 1 AND events = 0) AS bounces,
  sum(sign * (toUnixTimestamp64Milli(end_at) - toUnixTimestamp64Milli(start_at))) AS duration
FROM (SELECT *, toDate(start_at) AS day FROM ${sessions} WHERE pageviews > 0)
ARRAY JOIN ${places(groups)} AS place, ${values(groups)} AS value
GROUP BY project_id, place, value, day`,
  }
}

/** What no days are counted by. */
const MONTHLY_ONLY = strings(
  ROWS.filter(
    ({ rollupSubject, hasDailyRollup }) => rollupSubject !== undefined && hasDailyRollup !== true,
  ).map(({ dimension }) => dimension),
)
const GRAINS = [
  { grain: 'daily', column: sql`day`, isKept: sql`dimension NOT IN ${MONTHLY_ONLY}` },
  { grain: 'monthly', column: sql`toStartOfMonth(day) AS month`, isKept: sql`true` },
] as const

const EVENT_SUMS = sql`sum(changes.pageviews) AS pageviews, sum(changes.events) AS events`
const VISIT_SUMS = sql`sum(changes.visits) AS visits, sum(changes.bounces) AS bounces, sum(changes.duration) AS duration`
const FAMILIES = [
  { family: 'sessions', sums: sql`${EVENT_SUMS}, ${VISIT_SUMS}` },
  { family: 'pageviews', sums: sql`${EVENT_SUMS}, ${VISIT_SUMS}` },
  { family: 'events', sums: EVENT_SUMS },
] as const

const counts = ({ rollupChanges, rollups }: RollupTables): readonly View[] =>
  FAMILIES.flatMap(({ family, sums }) =>
    GRAINS.map(({ grain, column, isKept }) => ({
      name: `${family}_${grain}`,
      target: rollups[`${family}_${grain}`],
      select: sql`
SELECT project_id, dimension, value, ${column}, ${sums}
FROM ${rollupChanges} AS changes
WHERE family = ${string(family)} AND ${isKept}
GROUP BY ALL`,
    })),
  )

const users = ({ rollupChanges, rollups }: RollupTables): readonly View[] =>
  GRAINS.map(({ grain, column, isKept }) => ({
    name: `users_${grain}`,
    target: rollups[`users_${grain}`],
    select: sql`
SELECT project_id, dimension, value, ${column}, toUInt64(0) AS generation, groupBitmapMergeState(changes.users) AS users
FROM ${rollupChanges} AS changes
WHERE bitmapCardinality(changes.users) > 0 AND ${isKept}
GROUP BY ALL`,
  }))

/** The views between some tables; each reads what is inserted into one of them. */
export const defineViews = (tables: RollupTables): readonly View[] => [
  attributes(tables),
  pagesAndNames(tables),
  visits(tables),
  ...counts(tables),
  ...users(tables),
]
