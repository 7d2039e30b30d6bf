/** Writes the SELECT of one scan: a relation's matching rows, grouped. */
import { join, sql, string, uint32, type Sql } from '../../clickhouse/sql.js'
import { PROPERTY_NAMES, PROPERTY_PREFIX } from '../../contract/filter-fields.js'
import { DIMENSIONS } from '../../model/dimensions.js'
import { GRANULARITIES } from '../../model/granularities.js'
import { isOfEvents } from '../../model/measures.js'
import { STRING_OPERATORS } from '../../model/operators.js'
import { readNumbers, readSums } from '../../model/numbers.js'
import { readValue } from '../../model/pairs.js'
import { RELATIONS } from '../../model/relations.js'
import type { Scan } from '../plan/plan.js'
import { listGroupings, type Grouping } from '../request/query.js'
import {
  hasSessionKey,
  joinGoals,
  joinSessionKeys,
  nameJoinedKeys,
  writeFilter,
  type FactKey,
} from './filter.js'
import {
  selectEventsBetween,
  selectPeriods,
  writeBound,
  writeRows,
  writeRowsWithin,
  type StatementContext,
} from './rows.js'
import { writeClock } from './clock.js'
import { listKeys, nameKeys } from './select.js'
import { writeWholeSessions } from './whole-sessions.js'

/**
 * Writes a scan: one row per group, with its keys and the given columns.
 *
 * @param keys a subquery or an array of the groups to read, by the groupings after the first, or the only one; absent: all groups
 */
export function writeScan(
  context: StatementContext,
  scan: Scan,
  columns: readonly Sql[],
  keys?: Sql,
): Sql {
  const { query } = context
  const { relation, dimension, periods } = scan
  const groups = writeGroupKeys(context, scan, keys)
  const groupKeys = groups.map(({ key }) => key)
  const isOne = query.grouping.kind === 'none'
  const grouped = isOne ? sql`` : sql` GROUP BY ${join(listKeys(query))}`
  if (relation === 'whole_sessions') {
    const rows = writeWholeSessions(context, periods, groups)
    const keysOfRows = isOne ? nameKeys(query, groupKeys) : listKeys(query)
    return sql`SELECT ${join([...keysOfRows, ...columns])} FROM ${rows}${grouped}`
  }
  if (relation === 'events' && groups.some(({ isOfSession }) => isOfSession)) {
    const [ofSessions, ofEvents] = [true, false].map((isOfSession) =>
      groups.filter((one) => one.isOfSession === isOfSession).flatMap((one) => one.conditions),
    )
    const filters = [filterRows(context, scan), ...(ofEvents ?? [])]
    const events = joinGoals(context, writeRowsWithin(context, relation, periods, filters))
    const joined = joinSessionKeys(context, groups, events, ofSessions ?? [])
    const keysOfRows = nameKeys(query, nameJoinedKeys(groups))
    return sql`SELECT ${join([...keysOfRows, ...columns])} FROM ${joined}${grouped}`
  }
  const conditions = groups.flatMap((one) => one.conditions)
  const filters = [...conditions, filterRows(context, scan)]
  const rows =
    dimension === undefined
      ? writeFacts(context, scan, filters)
      : writeRollup(context, scan, dimension, filters)
  return sql`SELECT ${join([...nameKeys(query, groupKeys), ...columns])} FROM ${rows}${grouped}`
}

function writeRollup(
  context: StatementContext,
  { relation, periods, readsNumbers }: Scan,
  dimension: string,
  filters: readonly Sql[],
): Sql {
  const isMeant = [selectDimension(dimension), selectPeriods(relation, periods), ...filters]
  const rows = writeRows(context, relation, isMeant)
  if (readsNumbers !== true) return rows
  const { kind } = context.query.grouping
  const { dayKey = sql`month`, rollup } = RELATIONS[relation]
  const keys = kind === 'interval' ? [dayKey] : kind === 'project' ? [sql`project_id`] : []
  return rollup === 'numbers' ? readSums(keys, rows) : readNumbers(keys, rows)
}

/** Writes the rows of a scan of facts, with their conversions if they are counted. */
function writeFacts(
  context: StatementContext,
  { relation, measures, periods, isForCurrencies }: Scan,
  filters: readonly Sql[],
): Sql {
  const isRead = isForCurrencies === true ? [hasSeveralCurrencies(context)] : []
  const rows = writeRowsWithin(context, relation, periods, [...filters, ...isRead])
  return measures.some(isOfEvents) ? joinGoals(context, rows) : rows
}

/** Whether the events of the months of a query have several currencies. ClickHouse computes it first, and then reads nothing if they have not. */
function hasSeveralCurrencies(context: StatementContext): Sql {
  const { start, end } = context.query.period
  const rows = writeRows(context, 'events_monthly', [
    selectDimension(`${PROPERTY_PREFIX}currency`),
    sql`month >= toStartOfMonth(${writeBound(start)}) AND month <= toDate(${writeBound(end)}) AND value != ''`,
  ])
  return sql`(SELECT uniqExact(value) > 1 FROM ${rows})`
}

/** Selects the rows of a dimension of a rollup, or those of all properties. */
const selectDimension = (dimension: string): Sql =>
  dimension === PROPERTY_NAMES
    ? sql`startsWith(dimension, ${string(PROPERTY_PREFIX)})`
    : sql`dimension = ${string(dimension)}`

function filterRows(context: StatementContext, { relation, filteredBy, dimension }: Scan): Sql {
  switch (filteredBy) {
    case 'columns':
      return writeFilter(context, relation === 'events' ? 'events' : 'sessions')
    case 'entry':
      return writeFilter(context, 'entries')
    case 'value':
      return writeFilter(context, 'values', dimension)
    case 'events':
      return sql`${context.sessionKey} IN (${selectMatchingSessions(context)})`
    default:
      return filteredBy satisfies never
  }
}

/**
 * Selects the sessions with a matching event. A visit matches by any of its events, including those after the end of the
 * period, so events are read up to the end of the last session that started in the period.
 */
function selectMatchingSessions(context: StatementContext): Sql {
  const { query } = context
  const started = writeRows(context, 'sessions', [selectPeriods('sessions', [query.period])])
  return sql`SELECT ${context.sessionKey} FROM ${writeRows(context, 'events', [
    selectEventsBetween(writeBound(query.period.start), sql`(SELECT max(end_at) FROM ${started})`),
    writeFilter(context, 'events'),
  ])}`
}

/**
 * Writes the keys of a row, one for each grouping. The groups to read are a condition of the last, or of each after the first: then rows of
 * some other groups are read, too.
 */
function writeGroupKeys(
  context: StatementContext,
  scan: Scan,
  keys: Sql | undefined,
): readonly FactKey[] {
  const groupings = listGroupings(context.query)
  return groupings.map((grouping, i) => {
    const { key, conditions } = writeGroupKey(context, grouping, scan)
    const isChosen = groupings.length === 1 || i > 0
    const ofKeys =
      keys === undefined || !isChosen ? [] : [sql`${key} IN (${pickKeys(keys, i, groupings)})`]
    return { key, conditions: [...conditions, ...ofKeys], isOfSession: hasSessionKey(grouping) }
  })
}

/** Writes the keys of one grouping from those of the groups to read, which are tuples if the groups have several. */
const pickKeys = (keys: Sql, i: number, { length }: readonly Grouping[]): Sql =>
  length <= 2 ? keys : sql`arrayMap(one -> tupleElement(one, ${uint32(i)}), ${keys})`

function writeGroupKey(
  { bucketStarts, project, query }: StatementContext,
  grouping: Grouping,
  { relation, dimension }: Scan,
): Pick<FactKey, 'key' | 'conditions'> {
  const { rollup, time: at, day } = RELATIONS[relation]
  switch (grouping.kind) {
    case 'none':
      return { key: sql`''`, conditions: [] }
    case 'project':
      return { key: project, conditions: [] }
    case 'interval': {
      if (bucketStarts !== undefined) {
        const seconds = sql`intDiv(toUnixTimestamp64Milli(${at}), 1000)`
        return { key: sql`roundDown(${seconds}, ${bucketStarts})`, conditions: [] }
      }
      const { expression, dayExpression } = GRANULARITIES[grouping.granularity]
      const ofDay = day === undefined ? undefined : dayExpression?.(day.column)
      return { key: ofDay ?? expression(at), conditions: [] }
    }
    case 'clock':
      return { key: writeClock(grouping, query.period, at), conditions: [] }
    case 'property': {
      if (rollup !== undefined) return { key: sql`value`, conditions: [] }
      const name = string(grouping.name)
      return { key: sql`properties[${name}]`, conditions: [sql`mapContains(properties, ${name})`] }
    }
    case 'property_names':
      return writePropertyName(grouping.containing, rollup !== undefined)
    case 'dimension': {
      const { eventColumn, sessionColumn, entryColumn, groupFilter } =
        DIMENSIONS[grouping.dimension]
      // Visits need no filter: other scans make the groups.
      if (relation === 'sessions')
        return { key: requireKey(sessionColumn ?? entryColumn ?? eventColumn), conditions: [] }
      const ofFacts = relation === 'events' ? (eventColumn ?? sessionColumn) : sessionColumn
      const key =
        rollup === undefined ? requireKey(ofFacts) : readValue(dimension, grouping.dimension)
      return { key, conditions: groupFilter === undefined ? [] : [groupFilter(key)] }
    }
    default:
      return grouping satisfies never
  }
}

/**
 * Writes the name of a property. A rollup has a row for each of its values, and an event has each property once, so the events of the
 * values add up to those of the name. An event is repeated for each of its properties.
 */
function writePropertyName(
  containing: string,
  isRollup: boolean,
): Pick<FactKey, 'key' | 'conditions'> {
  const isMeant = (name: Sql): Sql => STRING_OPERATORS.contains(name, containing)
  if (isRollup) {
    const name = sql`substring(dimension, ${uint32(PROPERTY_PREFIX.length + 1)})`
    return { key: name, conditions: containing === '' ? [] : [isMeant(name)] }
  }
  const names = sql`mapKeys(properties)`
  const found =
    containing === '' ? names : sql`arrayFilter(property -> ${isMeant(sql`property`)}, ${names})`
  return { key: sql`arrayJoin(${found})`, conditions: [] }
}

function requireKey(column: Sql | undefined): Sql {
  if (column === undefined) throw new TypeError('the rows lack the column of their group')
  return column
}
