/** Writes the predicate of a query as a condition on rows. */
import { and, boolean, not, or, sql, strings, type Sql } from '../../clickhouse/sql.js'
import { addDays } from '../../lib/time.js'
import { DIMENSIONS, type DimensionName } from '../../model/dimensions.js'
import {
  buildPresentConditions,
  buildPropertyConditions,
  FOLDED_OPERATORS,
  LIST_OPERATORS,
  STRING_OPERATORS,
  type PropertyConditions,
} from '../../model/operators.js'
import { readValue } from '../../model/pairs.js'
import { listTerms, type Term } from '../plan/coverage.js'
import type { Predicate } from '../request/filters.js'
import type { Period } from '../request/period.js'
import { writeClock } from './clock.js'

/**
 * The rows that a predicate is applied to. `events`: rows of `events`. `sessions`: rows of `sessions`, by session
 * attributes. `entries`: rows of `sessions`, by entry page. `values`: rows of a rollup, by the value of the one dimension
 * or property that it counts by, or by both values of a pair.
 */
export type RowKind = 'events' | 'sessions' | 'entries' | 'values'

/** The operators where case matters, and those where it does not. */
interface CaseTables<Table> {
  readonly exact: Table
  readonly folded: Table
}

const TEXTS: CaseTables<typeof STRING_OPERATORS> = {
  exact: STRING_OPERATORS,
  folded: FOLDED_OPERATORS,
}
const buildTables = (
  build: (texts: typeof STRING_OPERATORS) => PropertyConditions,
): CaseTables<PropertyConditions> => ({ exact: build(TEXTS.exact), folded: build(TEXTS.folded) })

const choose = <Table>(
  tables: CaseTables<Table>,
  { ignoresCase = false }: { readonly ignoresCase?: boolean },
): Table => (ignoresCase ? tables.folded : tables.exact)

/** The columns of a kind of rows that predicates read. A column that the rows do not have is absent. */
interface ColumnMapping {
  readonly dimension: (name: DimensionName) => Sql | undefined
  readonly property?: CaseTables<PropertyConditions>
  readonly anonymous?: Sql
  readonly moment?: Sql
  /** Whether the rows have the session. */
  readonly hasSession?: true
}

const MAPPINGS: Readonly<Record<Exclude<RowKind, 'values'>, ColumnMapping>> = {
  events: {
    dimension: (name) => DIMENSIONS[name].eventColumn,
    property: buildTables(buildPropertyConditions),
    anonymous: sql`anonymous`,
    moment: sql`timestamp`,
    hasSession: true,
  },
  sessions: { dimension: (name) => DIMENSIONS[name].sessionColumn, hasSession: true },
  entries: { dimension: (name) => DIMENSIONS[name].entryColumn },
}

const OF_VALUES = { property: buildTables(buildPresentConditions) }

/** Returns the columns of rows of a kind. @param dimension the `dimension` of rows of a rollup */
const mapColumns = (rows: RowKind, dimension: string | undefined): ColumnMapping =>
  rows === 'values'
    ? { ...OF_VALUES, dimension: (name) => readValue(dimension, name) }
    : MAPPINGS[rows]

/** What a predicate is written for: the period of its query, and subqueries of sessions. */
interface WhereContext {
  readonly period: Period
  /** What identifies the session of a row; the subqueries select it. */
  readonly key: Sql
  /** Selects those with an event that satisfies a condition on rows of `events`. */
  readonly byEvents: (condition: Sql) => Sql
  /** Selects those that satisfy a condition on rows of `sessions`. */
  readonly byColumns: (condition: Sql) => Sql
}

/** Writes the condition that a row of this kind satisfies exactly when the predicate holds. `dimension` is that of rows of a rollup. */
export type WhereWriter = (rows: RowKind, context: WhereContext, dimension?: string) => Sql

/**
 * Whether the condition on a term is another one for another period. It may select sessions of the period, or list when the clock is
 * changed in it.
 */
const dependsOnPeriod = (term: Term): boolean =>
  term.kind === 'visit' ||
  term.kind === 'clock' ||
  (term.kind === 'dimension' && DIMENSIONS[term.dimension].eventColumn === undefined)

/**
 * Creates the writer for one statement. It returns the same fragment for the same kind of rows, so the statement sends
 * the values of the predicate only once, even with several scans.
 */
export function createWhereWriter(predicate: Predicate): WhereWriter {
  const isOfPeriod = listTerms(predicate).some(dependsOnPeriod)
  const written = new Map<string, Sql>()
  return (rows, context, dimension) => {
    const { start, end } = context.period
    // A statement may have several periods.
    const ofPeriod = isOfPeriod ? `${start.getTime()} ${end.getTime()}` : ''
    const key = [rows, ofPeriod, dimension].join(' ')
    const fragment = written.get(key) ?? writeCondition(predicate, rows, context, dimension)
    written.set(key, fragment)
    return fragment
  }
}

/**
 * Writes a predicate for rows of a kind.
 *
 * @throws TypeError when the rows lack a column that the predicate reads; the planner never applies a predicate to such
 *   rows
 */
export const writeCondition = (
  predicate: Predicate,
  rows: RowKind,
  context: WhereContext,
  dimension?: string,
): Sql => write(predicate, mapColumns(rows, dimension), context)

function write(predicate: Predicate, columns: ColumnMapping, context: WhereContext): Sql {
  const writePart = (part: Predicate): Sql => write(part, columns, context)
  switch (predicate.kind) {
    case 'all':
      return and(predicate.of.map(writePart))
    case 'any':
      return or(predicate.of.map(writePart))
    case 'not':
      return not(writePart(predicate.of))
    case 'visit': {
      const condition = write(predicate.of, MAPPINGS.events, context)
      return sql`${requireSession(columns, context)} IN (${context.byEvents(condition)})`
    }
    case 'string':
      return compare(predicate.dimension, columns, context, (text) =>
        choose(TEXTS, predicate)[predicate.operator](text, predicate.value),
      )
    case 'list':
      return compare(predicate.dimension, columns, context, (text) => writeList(predicate, text))
    case 'property':
      return choose(requireColumn(columns.property), predicate)[predicate.operator](
        predicate.name,
        predicate.value,
      )
    case 'anonymous':
      return sql`${requireColumn(columns.anonymous)} = ${boolean(predicate.value)}`
    case 'clock': {
      const shown = writeClock(predicate, widen(context.period), requireColumn(columns.moment))
      return sql`${shown} IN (${strings(predicate.values)})`
    }
    default:
      return predicate satisfies never
  }
}

/** A visit may have events before and after the period, and the clock may have been changed between. */
const widen = ({ start, end }: Period): Period => ({
  start: addDays(start, -MAX_VISIT_DAYS),
  end: addDays(end, MAX_VISIT_DAYS),
})

const MAX_VISIT_DAYS = 366

/** @param text the value of the dimension; or its column in rows of facts */
function writeList(
  { dimension, operator, values }: Extract<Predicate, { readonly kind: 'list' }>,
  text: Sql,
): Sql {
  const { eventColumn, isOneOf } = DIMENSIONS[dimension]
  if (isOneOf === undefined || text !== eventColumn) return LIST_OPERATORS[operator](text, values)
  return operator === 'oneOf' ? isOneOf(values) : not(isOneOf(values))
}

const NO_VALUE = sql`''`

/**
 * Writes a condition on the value of a dimension. Where only sessions have a column of it, the rows are those of sessions that
 * satisfy the condition. A session that is not stored has no value: if the condition holds without one, the rows are instead those
 * that are not of sessions that do not satisfy it.
 */
function compare(
  dimension: DimensionName,
  columns: ColumnMapping,
  context: WhereContext,
  condition: (text: Sql) => Sql,
): Sql {
  const own = columns.dimension(dimension)
  if (own !== undefined) return condition(own)
  const ofSession = requireColumn(DIMENSIONS[dimension].sessionColumn)
  const withoutValue = sql`(${condition(NO_VALUE)})`
  const differing = context.byColumns(sql`(${condition(ofSession)}) != ${withoutValue}`)
  return sql`(${requireSession(columns, context)} IN (${differing})) != ${withoutValue}`
}

const requireSession = ({ hasSession }: ColumnMapping, { key }: WhereContext): Sql =>
  requireColumn(hasSession === true ? key : undefined)

function requireColumn<T>(column: T | undefined): T {
  if (column === undefined) throw new TypeError('the rows lack a column that the predicate reads')
  return column
}
