/** The operators of filters as conditions on a text. Comparisons are literal and bytewise. */
import type { ListOperator, StringOperator } from '../../../src/contract/api.js'
import { join, sql, type Sql } from './sql.js'

type Condition<Value> = (text: Sql, value: Value) => Sql

export const STRING_OPERATORS: Readonly<Record<StringOperator, Condition<string>>> = {
  any: (text) => sql`${text} <> ''`,
  eq: (text, value) => sql`${text} = ${value}`,
  notEq: (text, value) => sql`${text} <> ${value}`,
  contains: (text, value) => sql`contains(${text}, ${value})`,
  notContains: (text, value) => sql`NOT contains(${text}, ${value})`,
  startsWith: (text, value) => sql`starts_with(${text}, ${value})`,
  endsWith: (text, value) => sql`ends_with(${text}, ${value})`,
}

/** The operators that an event without the property satisfies; all others need it. */
export const SATISFIED_WITHOUT_PROPERTY: ReadonlySet<StringOperator> = new Set([
  'notEq',
  'notContains',
])

const listed: Condition<readonly string[]> = (text, values) =>
  values.length === 0 ? sql`FALSE` : sql`${text} IN (${join(values.map((one) => sql`${one}`))})`

export const LIST_OPERATORS: Readonly<Record<ListOperator, Condition<readonly string[]>>> = {
  oneOf: listed,
  noneOf: (text, values) => sql`NOT ${listed(text, values)}`,
}
