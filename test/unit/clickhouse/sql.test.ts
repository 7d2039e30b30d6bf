/** SQL fragments: values become parameters in order, and all text comes from source code. */
import { describe, expect, test } from '@jest/globals'
import {
  and,
  boolean,
  declaredName,
  int64,
  isTrue,
  join,
  not,
  optionalTime,
  or,
  sql,
  statement,
  string,
  strings,
  time,
  uint32,
  type Sql,
} from '../../../src/clickhouse/sql.js'

describe('sql', () => {
  test.each<[string, Sql, string, object]>([
    ['text', sql`SELECT 1`, 'SELECT 1', {}],
    ['a string', sql`a = ${string("x' OR 1")}`, 'a = {p0:String}', { p0: "x' OR 1" }],
    ['a list', sql`a IN ${strings(['b'])}`, 'a IN {p0:Array(String)}', { p0: ['b'] }],
    ['numbers', sql`${uint32(1)}, ${int64(-2)}`, '{p0:UInt32}, {p1:Int64}', { p0: 1, p1: -2 }],
    ['a boolean', sql`${boolean(true)}`, '{p0:Bool}', { p0: true }],
    [
      'a moment',
      sql`${time(new Date('2026-01-31T10:00:00.123Z'))}`,
      "fromUnixTimestamp64Milli({p0:Int64}, 'UTC')",
      { p0: 1_769_853_600_123 },
    ],
    [
      'a moment or null',
      sql`${optionalTime(new Date(1))}, ${optionalTime(null)}`,
      "fromUnixTimestamp64Milli({p0:Nullable(Int64)}, 'UTC'), fromUnixTimestamp64Milli({p1:Nullable(Int64)}, 'UTC')",
      { p0: 1, p1: null },
    ],
    [
      'equal values twice',
      sql`${uint32(1)} ${uint32(1)}`,
      '{p0:UInt32} {p1:UInt32}',
      { p0: 1, p1: 1 },
    ],
    [
      'fragments in fragments',
      sql`a AND ${sql`b = ${uint32(1)} AND ${sql`c = ${uint32(2)}`}`} AND d = ${uint32(3)}`,
      'a AND b = {p0:UInt32} AND c = {p1:UInt32} AND d = {p2:UInt32}',
      { p0: 1, p1: 2, p2: 3 },
    ],
    ['a list of fragments', join([sql`a`, sql`b`]), 'a, b', {}],
    ['no fragments', join([]), '', {}],
    ['and of nothing', and([]), 'true', {}],
    ['or of nothing', or([]), 'false', {}],
    ['and of one', and([sql`a`]), 'a', {}],
    ['and in or', or([and([sql`a`, sql`b`]), sql`c`]), '((a AND b) OR c)', {}],
    ['not', not(or([sql`a`, sql`b`])), 'NOT ((a OR b))', {}],
  ])('%s', (_name, fragment, query, query_params) => {
    expect(statement(fragment)).toEqual({ query, query_params })
  })

  test('the tag refuses text that is made at run time', () => {
    const text = Object.assign(['DROP TABLE x'], { raw: ['DROP TABLE x'] })
    expect(() => sql(text as unknown as TemplateStringsArray)).toThrow(TypeError)
  })

  test('the tag refuses strings and objects that look like fragments as values', () => {
    const forged = { chunks: ['DROP TABLE x'] } as unknown as Sql
    expect(() => sql`${forged}`).toThrow(TypeError)
    expect(() => sql`${'DROP TABLE x' as unknown as Sql}`).toThrow(TypeError)
  })
})

test('a condition counts as true by its text', () => {
  expect([sql`true`, sql`${sql`true`}`].map(isTrue)).toEqual([true, true])
  expect([sql`false`, sql`true AND a`, string('true'), sql``].map(isTrue)).toEqual(
    Array.from({ length: 4 }, () => false),
  )
  expect(statement(and([sql`true`, sql`a`])).query).toBe('a')
  expect(statement(or([sql`a`, sql`true`])).query).toBe('true')
})

describe('declaredName', () => {
  const grain = 'daily' as 'daily' | 'monthly'

  test('is text: a literal, or a template of literals', () => {
    expect(statement(declaredName('day'))).toEqual({ query: 'day', query_params: {} })
    expect(statement(declaredName(`users_${grain}`))).toEqual({
      query: 'users_daily',
      query_params: {},
    })
  })

  test('does not compile with text that is known at run time only', () => {
    const text: string = grain
    // @ts-expect-error: any text
    declaredName(text)
    // @ts-expect-error: a template with any text in it
    declaredName(`users_${text}` as const)
    // @ts-expect-error: any text, among literals
    declaredName(text as 'day' | `x_${string}`)
  })

  test.each(['', 'a b', 'a;', '`a`', "a'", 'A', 'a1', 'a.b', 'ä'])('throws for %j', (text) => {
    expect(() => declaredName(text as 'day')).toThrow(TypeError)
  })
})
