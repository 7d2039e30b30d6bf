/**
 * The definitions of the materialized views that fill the rollups, derived from the table of dimensions.
 *
 * Their texts are hashed: any change to them, even of whitespace, makes every store rebuild its rollups at the next start.
 */
import { join, sql, string, strings, uint32, type Sql } from '../clickhouse/sql.js'
import { PROPERTY_PREFIX } from '../contract/filter-fields.js'
import { DIMENSION_ROWS, type DimensionRow } from '../model/dimensions.js'
import { COUNTED_ATTRIBUTES, COUNTED_COLUMNS } from '../model/fact-columns.js'
import { IS_VISIT, isCustomEvent, isPageview, VISIT_AGGREGATES } from '../model/facts.js'
import type { RollupTables } from '../model/rollup-table-sets.js'
import { defineNumberView } from './number-view.js'
import { definePairViews, type View } from './pair-views.js'
import {
  isOfPairedProjects,
  listSumColumns,
  SUM_ROLLUPS,
  TOTAL,
  USER_ROLLUPS,
  type RollupGrain,
  type RollupSubject,
} from '../model/rollups.js'

/** The version of the definitions below. A change of their hash needs the next number: see the test of this file. */
export const DEFINITION_VERSION = 4

interface Group {
  readonly subject: RollupSubject
  readonly dimension: string
  readonly value: Sql
}

/** Lists the groups of a subject for which `findColumn` finds a column: the values are read from it. */
function listGroups(
  subject: RollupSubject,
  findColumn: (row: DimensionRow) => Sql | undefined,
): readonly Group[] {
  return DIMENSION_ROWS.filter(({ rollupSubject }) => rollupSubject === subject).flatMap((row) => {
    const column = findColumn(row)
    return column === undefined ? [] : [{ subject, dimension: row.name, value: column }]
  })
}

const EVERYTHING: Group = { subject: 'sessions', dimension: TOTAL, value: sql`''` }
/** Lists the groups of the session attributes. @param read writes how a column is read */
const listAttributes = (read: (column: Sql) => Sql): readonly Group[] =>
  COUNTED_ATTRIBUTES.map(({ dimension, write }) => ({
    subject: 'sessions',
    dimension,
    value: write(read),
  }))
const ATTRIBUTES = listAttributes((column) => column)
const PAGES = listGroups('pageviews', ({ eventColumn }) => eventColumn)
const ENTRIES = listGroups('pageviews', ({ entryColumn }) => entryColumn)
const NAMES = listGroups('events', ({ eventColumn }) => eventColumn)
/** Stands for the groups of all properties, as the last in a list. The name of each property is appended to its dimension. */
const PROPERTIES = { subject: 'events', dimension: PROPERTY_PREFIX } as const

/**
 * Writes the columns that name a group. Rows are aggregated by the place of their group in a list, because short keys are
 * fast; here the place becomes names again.
 */
function selectNames(groups: readonly Omit<Group, 'value'>[], property = sql`''`): Sql {
  const subjects = strings(groups.map(({ subject }) => subject))
  const dimensions = strings(groups.map(({ dimension }) => dimension))
  return sql`project_id, ${subjects}[place] AS family, concat(${dimensions}[place], ${property}) AS dimension, value, day`
}
const listPlaces = (groups: readonly Group[]): Sql =>
  sql`[${join(groups.map((_, i) => uint32(i + 1)))}]`
const listValues = (groups: readonly Group[]): Sql =>
  sql`[${join(groups.map(({ value }) => sql`toString(${value})`))}]`

const EVENT_AGGREGATES = sql`groupBitmapStateIf(user, sign > 0) AS users, sum(sign * of_pageviews) AS pageviews, sum(sign * of_events) AS events`

/** Counts events by session attributes. The events of a session share them, so they are first added up per session. */
function countByAttributes({ eventChanges, rollupChanges }: RollupTables): View {
  const groups = [EVERYTHING, ...ATTRIBUTES]
  const alias = (column: Sql): Sql => sql`of_${column}`
  const shared = COUNTED_COLUMNS.map((column) => sql`any(${column}) AS ${alias(column)}`)
  const aliased = [EVERYTHING, ...listAttributes(alias)]
  return {
    name: 'attributes',
    target: rollupChanges,
    select: sql`
SELECT ${selectNames(groups)}, ${EVENT_AGGREGATES}
FROM (
  SELECT
    project_id, toDate(timestamp) AS day, sign, any(user) AS user,
    countIf(${isPageview(sql`name`)}) AS of_pageviews, countIf(${isCustomEvent(sql`name`)}) AS of_events, ${join(shared)}
  FROM ${eventChanges}
  GROUP BY project_id, day, session, sign
)
ARRAY JOIN ${listPlaces(aliased)} AS place, ${listValues(aliased)} AS value
GROUP BY project_id, place, value, day`,
  }
}

/** Counts events by page, by name and by each of their properties. */
function countByPagesAndNames({ eventChanges, rollupChanges }: RollupTables): View {
  const groups = [...PAGES, ...NAMES]
  const noNames = sql`[${join(groups.map(() => sql`''`))}]`
  const last = uint32(groups.length + 1)
  return {
    name: 'pages_and_names',
    target: rollupChanges,
    select: sql`
SELECT ${selectNames([...groups, PROPERTIES], sql`property`)}, ${EVENT_AGGREGATES}
FROM (
  SELECT
    project_id, toDate(timestamp) AS day, sign, user, ${isPageview(sql`name`)} AS of_pageviews, ${isCustomEvent(sql`name`)} AS of_events,
    arrayConcat(${listPlaces(groups)}, arrayMap(name -> ${last}, mapKeys(properties))) AS places,
    arrayConcat(${noNames}, mapKeys(properties)) AS names,
    arrayConcat(${listValues(groups)}, mapValues(properties)) AS texts
  FROM ${eventChanges}
)
ARRAY JOIN places AS place, names AS property, texts AS value
GROUP BY project_id, place, property, value, day`,
  }
}

/** Counts visits by session attributes and by entry page. */
function countVisits({ sessions, rollupChanges }: RollupTables): View {
  const groups = [EVERYTHING, ...ATTRIBUTES, ...ENTRIES]
  return {
    name: 'visits',
    target: rollupChanges,
    select: sql`
SELECT
  ${selectNames(groups)},
  ${VISIT_AGGREGATES.visits} AS visits,
  ${VISIT_AGGREGATES.bounces} AS bounces,
  ${VISIT_AGGREGATES.duration} AS duration
FROM (SELECT *, toDate(start_at) AS day FROM ${sessions} WHERE ${IS_VISIT})
ARRAY JOIN ${listPlaces(groups)} AS place, ${listValues(groups)} AS value
GROUP BY project_id, place, value, day`,
  }
}

const MONTHLY_ONLY = strings(
  DIMENSION_ROWS.filter(
    ({ rollupSubject, hasDailyRollup }) => rollupSubject !== undefined && hasDailyRollup !== true,
  ).map(({ name }) => name),
)

/** By grain: the date of a rollup's row, from the day of a change, and the condition that the rollup takes the change. */
const BY_GRAIN: Readonly<Record<RollupGrain, { readonly date: Sql; readonly isTaken: Sql }>> = {
  day: { date: sql`day`, isTaken: sql`dimension NOT IN ${MONTHLY_ONLY}` },
  month: { date: sql`toStartOfMonth(day) AS month`, isTaken: sql`true` },
}

/** Defines the views that fill the rollups of sums of single dimensions. */
const defineSumViews = ({ rollupChanges, rollups }: RollupTables): readonly View[] =>
  SUM_ROLLUPS.filter((rollup) => !isOfPairedProjects(rollup)).map((rollup) => {
    const { date, isTaken } = BY_GRAIN[rollup.grain]
    const sums = listSumColumns(rollup).map((column) => sql`sum(changes.${column}) AS ${column}`)
    return {
      name: rollup.name,
      target: rollups[rollup.name],
      select: sql`
SELECT project_id, dimension, value, ${date}, ${join(sums)}
FROM ${rollupChanges} AS changes
WHERE family = ${string(rollup.subject)} AND ${isTaken}
GROUP BY ALL`,
    }
  })

/** Defines the views that fill the rollups of users of single dimensions. */
const defineUserViews = ({ rollupChanges, rollups }: RollupTables): readonly View[] =>
  USER_ROLLUPS.filter((rollup) => !isOfPairedProjects(rollup)).map(({ name, grain }) => ({
    name,
    target: rollups[name],
    select: sql`
SELECT project_id, dimension, value, ${BY_GRAIN[grain].date}, toUInt64(0) AS generation, groupBitmapMergeState(changes.users) AS users
FROM ${rollupChanges} AS changes
WHERE bitmapCardinality(changes.users) > 0 AND ${BY_GRAIN[grain].isTaken}
GROUP BY ALL`,
  }))

/** Defines the views that count single dimensions. */
export const defineSingleViews = (tables: RollupTables): readonly View[] => [
  countByAttributes(tables),
  countByPagesAndNames(tables),
  countVisits(tables),
  ...defineSumViews(tables),
  ...defineUserViews(tables),
]

/** Defines the views between the tables. Each reads the rows that are inserted into one of the tables. */
export const defineViews = (tables: RollupTables): readonly View[] => [
  ...defineSingleViews(tables),
  ...definePairViews(tables),
  defineNumberView(tables),
]
