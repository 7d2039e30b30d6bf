/** writeCondition() turns predicates into SQL: a case for each operator and each kind of row. */
import { describe, expect, test } from '@jest/globals'
import {
  createWhereWriter,
  writeCondition,
  type RowKind,
} from '../../../../src/analytics/sql/where.js'
import type { DimensionName } from '../../../../src/model/dimensions.js'
import type { Predicate } from '../../../../src/analytics/request/filters.js'
import type { Period } from '../../../../src/analytics/request/period.js'
import type { StringOperator } from '../../../../src/contract/api.js'
import { sql, statement, type Sql } from '../../../../src/clickhouse/sql.js'

/** An alternative that never matches. */
const NEVER = '[^\\x00-\\x{10FFFF}]'
const selectFrom =
  (table: Sql) =>
  (condition: Sql): Sql =>
    sql`SELECT session FROM ${table} WHERE ${condition}`
const YEAR = { start: new Date('2026-01-01T00:00:00Z'), end: new Date('2027-01-01T00:00:00Z') }
const select = {
  period: YEAR,
  key: sql`session`,
  byEvents: selectFrom(sql`e`),
  byColumns: selectFrom(sql`s`),
}
const lower = (predicate: Predicate, rows: RowKind = 'events') =>
  statement(writeCondition(predicate, rows, select))

const any = (dimension: DimensionName): Predicate => ({
  kind: 'string',
  dimension,
  operator: 'any',
  value: '',
})
const property = (operator: StringOperator): Predicate => ({
  kind: 'property',
  name: 'n',
  operator,
  value: 'x',
})
const anonymous: Predicate = { kind: 'anonymous', value: true }

describe('writeCondition', () => {
  test.each<[StringOperator, string, object]>([
    ['any', 'notEmpty(path)', {}],
    ['eq', 'path = {p0:String}', { p0: 'x' }],
    ['notEq', 'NOT (path = {p0:String})', { p0: 'x' }],
    ['contains', 'position(path, {p0:String}) > 0', { p0: 'x' }],
    ['notContains', 'NOT (position(path, {p0:String}) > 0)', { p0: 'x' }],
    ['startsWith', 'startsWith(path, {p0:String})', { p0: 'x' }],
    ['endsWith', 'endsWith(path, {p0:String})', { p0: 'x' }],
    ['matches', 'match(path, {p0:String})', { p0: `${NEVER}|x` }],
    ['notMatches', 'NOT (match(path, {p0:String}))', { p0: `${NEVER}|x` }],
  ])('%s of an attribute', (operator, query, query_params) => {
    const predicate: Predicate = { kind: 'string', dimension: 'page:path', operator, value: 'x' }
    expect(lower(predicate)).toEqual({ query, query_params })
  })

  test.each<[StringOperator, string, object]>([
    ['any', 'notEmpty(path)', {}],
    ['eq', 'match(path, {p0:String})', { p0: 'NEVER|\\A(?i)x\\.É\\z' }],
    ['notEq', 'NOT (match(path, {p0:String}))', { p0: 'NEVER|\\A(?i)x\\.É\\z' }],
    ['contains', 'match(path, {p0:String})', { p0: 'NEVER|(?i)x\\.É' }],
    ['notContains', 'NOT (match(path, {p0:String}))', { p0: 'NEVER|(?i)x\\.É' }],
    ['startsWith', 'match(path, {p0:String})', { p0: 'NEVER|\\A(?i)x\\.É' }],
    ['endsWith', 'match(path, {p0:String})', { p0: 'NEVER|(?i)x\\.É\\z' }],
    ['matches', 'match(path, {p0:String})', { p0: 'NEVER|(?i)x.É' }],
    ['notMatches', 'NOT (match(path, {p0:String}))', { p0: 'NEVER|(?i)x.É' }],
  ])('%s of an attribute, in any case', (operator, query, query_params) => {
    const predicate: Predicate = {
      kind: 'string',
      dimension: 'page:path',
      operator,
      value: 'x.É',
      ignoresCase: true,
    }
    const { query: text, query_params: sent } = lower(predicate)
    const pattern = String(sent['p0'] ?? '').replace(NEVER, 'NEVER')
    expect({ text, sent: operator === 'any' ? {} : { p0: pattern } }).toEqual({
      text: query,
      sent: query_params,
    })
  })

  const has = 'mapContains(properties, {p0:String})'
  const value = 'properties[{p1:String}]'
  test.each<[StringOperator, string]>([
    ['eq', `(${has} AND ${value} = {p2:String})`],
    ['notEq', `NOT ((${has} AND ${value} = {p2:String}))`],
    ['contains', `(${has} AND position(${value}, {p2:String}) > 0)`],
    ['notContains', `NOT ((${has} AND position(${value}, {p2:String}) > 0))`],
    ['startsWith', `(${has} AND startsWith(${value}, {p2:String}))`],
    ['endsWith', `(${has} AND endsWith(${value}, {p2:String}))`],
  ])('%s of a property', (operator, query) => {
    expect(lower(property(operator))).toEqual({
      query,
      query_params: { p0: 'n', p1: 'n', p2: 'x' },
    })
  })

  test.each<[StringOperator, string, object]>([
    ['any', 'true', {}],
    ['eq', 'value = {p0:String}', { p0: 'x' }],
    ['notEq', 'NOT (value = {p0:String})', { p0: 'x' }],
    ['contains', 'position(value, {p0:String}) > 0', { p0: 'x' }],
    ['notContains', 'NOT (position(value, {p0:String}) > 0)', { p0: 'x' }],
    ['startsWith', 'startsWith(value, {p0:String})', { p0: 'x' }],
    ['endsWith', 'endsWith(value, {p0:String})', { p0: 'x' }],
  ])('%s of a property that all rows have as their value', (operator, query, query_params) => {
    expect(lower(property(operator), 'values')).toEqual({ query, query_params })
  })

  test.each<[Predicate, string, object]>([
    [{ kind: 'property', name: 'n', operator: 'any', value: 'x' }, has, { p0: 'n' }],
    [anonymous, 'anonymous = {p0:Bool}', { p0: true }],
    [
      { kind: 'list', dimension: 'os', operator: 'oneOf', values: [] },
      'os IN {p0:Array(String)}',
      { p0: [] },
    ],
    [
      { kind: 'list', dimension: 'os', operator: 'noneOf', values: ['a'] },
      'NOT (os IN {p0:Array(String)})',
      { p0: ['a'] },
    ],
    [{ kind: 'all', of: [] }, 'true', {}],
    [{ kind: 'any', of: [] }, 'false', {}],
    [
      {
        kind: 'any',
        of: [{ kind: 'all', of: [] }, anonymous],
      },
      'true',
      {},
    ],
    [
      { kind: 'not', of: { kind: 'all', of: [any('country'), any('os')] } },
      'NOT ((notEmpty(country) AND notEmpty(os)))',
      {},
    ],
    [{ kind: 'not', of: { kind: 'all', of: [] } }, 'NOT (true)', {}],
    [
      { kind: 'visit', of: { kind: 'all', of: [any('page:hash'), anonymous] } },
      'session IN (SELECT session FROM e WHERE (notEmpty(hash) AND anonymous = {p0:Bool}))',
      { p0: true },
    ],
    [
      { kind: 'all', of: [any('country'), { kind: 'any', of: [any('os'), any('city')] }] },
      '(notEmpty(country) AND (notEmpty(os) OR notEmpty(city)))',
      {},
    ],
  ])('%j', (predicate, query, query_params) => {
    expect(lower(predicate)).toEqual({ query, query_params })
  })

  test.each<[string, RowKind, Predicate, string | typeof TypeError]>([
    ['events: a page', 'events', any('page:path'), 'notEmpty(path)'],
    ['events: the hash of a page', 'events', any('page:hash'), 'notEmpty(hash)'],
    ['events: a session attribute', 'events', any('country'), 'notEmpty(country)'],
    ['sessions: a session attribute', 'sessions', any('country'), 'notEmpty(country)'],
    ['sessions: a page, of which each has many', 'sessions', any('page:path'), TypeError],
    ['sessions: a property', 'sessions', property('any'), TypeError],
    ['sessions: anonymity', 'sessions', anonymous, TypeError],
    [
      'sessions: what other events are',
      'sessions',
      { kind: 'visit', of: any('page:path') },
      'session IN (SELECT session FROM e WHERE notEmpty(path))',
    ],
    ['entries: what other events are', 'entries', { kind: 'visit', of: any('os') }, TypeError],
    ['rollups: what other events are', 'values', { kind: 'visit', of: any('os') }, TypeError],
    ['entries: a page', 'entries', any('page:path'), 'notEmpty(entry_path)'],
    ['entries: an origin', 'entries', any('page:origin'), 'notEmpty(entry_origin)'],
    ['entries: what a visit does not enter on', 'entries', any('country'), TypeError],
    ['rollups: the dimension they count by', 'values', any('country'), 'notEmpty(value)'],
    [
      'events: a column of sessions alone',
      'events',
      any('page:exit'),
      "(session IN (SELECT session FROM s WHERE (notEmpty(exit_path)) != (notEmpty('')))) != (notEmpty(''))",
    ],
    ['sessions: their own column', 'sessions', any('page:entry'), 'notEmpty(entry_path)'],
    ['visits by entry page: a column of sessions alone', 'entries', any('page:exit'), TypeError],
    ['rollups: anonymity', 'values', anonymous, TypeError],
  ])('rows of %s', (_what, rows, predicate, want) => {
    if (typeof want === 'string') {
      expect(lower(predicate, rows)).toEqual({ query: want, query_params: {} })
    } else {
      expect(() => lower(predicate, rows)).toThrow(want)
    }
  })
})

test('the clock of a zone is known to the statement, with its changes around the period', () => {
  const clock = (zone: string, part: 'weekday' | 'hour', values: readonly string[]): Predicate => ({
    ...{ kind: 'clock', part, zone, values },
  })
  expect(lower(clock('UTC', 'weekday', ['6', '7']))).toEqual({
    query:
      'toString(positiveModulo(intDiv((intDiv(toUnixTimestamp64Milli(timestamp), 1000) + {p0:Int64}), 86400) + 3, 7) + 1) IN ({p1:Array(String)})',
    query_params: { p0: 0, p1: ['6', '7'] },
  })
  const { query_params } = lower(clock('Europe/Berlin', 'hour', ['09']))
  // Winter and summer time of 2025, 2026 and 2027.
  expect(query_params['p1']).toEqual([3600, 7200, 3600, 7200, 3600, 7200, 3600])
})

const JANUARY = { start: new Date('2026-01-01Z'), end: new Date('2026-02-01Z') }
const FEBRUARY = { start: new Date('2026-02-01Z'), end: new Date('2026-03-01Z') }

test('sessions are selected for each period of a statement', () => {
  const where = createWhereWriter(any('page:exit'))
  const selectOf = (table: Sql, period: Period) => ({
    ...{ ...select, period },
    byColumns: selectFrom(table),
  })
  const fragment = sql`${where('events', selectOf(sql`january`, JANUARY))}, ${where('events', selectOf(sql`february`, FEBRUARY))}`
  const write = (table: string) =>
    `(session IN (SELECT session FROM ${table} WHERE (notEmpty(exit_path)) != (notEmpty('')))) != (notEmpty(''))`
  expect(statement(fragment).query).toBe(`${write('january')}, ${write('february')}`)
})

test('the writer of a statement sends the values of a predicate once for each kind of rows', () => {
  const where = createWhereWriter({
    kind: 'string',
    dimension: 'page:path',
    operator: 'eq',
    value: 'x',
  })
  const january = { ...select, period: JANUARY }
  const fragment = sql`${where('events', january)}, ${where('entries', january)}, ${where('events', { ...select, period: FEBRUARY })}`
  expect(statement(fragment)).toEqual({
    query: 'path = {p0:String}, entry_path = {p1:String}, path = {p0:String}',
    query_params: { p0: 'x', p1: 'x' },
  })
})
