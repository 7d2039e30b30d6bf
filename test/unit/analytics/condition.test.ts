/** Predicates to conditions: a row for each operator, on attributes and on properties. */
import { describe, expect, test } from '@jest/globals'
import { condition } from '../../../src/analytics/condition.js'
import type { Predicate } from '../../../src/analytics/predicate.js'
import type { StringOperator } from '../../../src/api.js'
import { statement } from '../../../src/clickhouse/sql.js'

const lower = (predicate: Predicate, relation: 'events' | 'sessions' = 'events') =>
  statement(condition(predicate, relation))

describe('condition', () => {
  test.each<[StringOperator, string, object]>([
    ['any', 'notEmpty(path)', {}],
    ['eq', 'path = {p0:String}', { p0: 'x' }],
    ['notEq', 'NOT (path = {p0:String})', { p0: 'x' }],
    ['contains', 'position(path, {p0:String}) > 0', { p0: 'x' }],
    ['notContains', 'NOT (position(path, {p0:String}) > 0)', { p0: 'x' }],
    ['startsWith', 'startsWith(path, {p0:String})', { p0: 'x' }],
    ['endsWith', 'endsWith(path, {p0:String})', { p0: 'x' }],
  ])('%s of an attribute', (operator, query, query_params) => {
    const predicate: Predicate = { kind: 'string', dimension: 'page:path', operator, value: 'x' }
    expect(lower(predicate)).toEqual({ query, query_params })
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
    expect(lower({ kind: 'property', name: 'n', operator, value: 'x' })).toEqual({
      query,
      query_params: { p0: 'n', p1: 'n', p2: 'x' },
    })
  })

  test.each<[Predicate, string, object]>([
    [{ kind: 'property', name: 'n', operator: 'any', value: 'x' }, has, { p0: 'n' }],
    [{ kind: 'anonymous', value: true }, 'anonymous = {p0:Bool}', { p0: true }],
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
        of: [
          { kind: 'all', of: [] },
          { kind: 'anonymous', value: true },
        ],
      },
      'true',
      {},
    ],
  ])('%j', (predicate, query, query_params) => {
    expect(lower(predicate)).toEqual({ query, query_params })
  })

  test('a relation without the column is refused', () => {
    const predicate: Predicate = {
      kind: 'string',
      dimension: 'page:path',
      operator: 'any',
      value: '',
    }
    expect(() => lower(predicate, 'sessions')).toThrow(TypeError)
  })
})
