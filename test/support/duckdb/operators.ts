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
  matches: (text, value) => sql`regexp_matches(${text}, ${value}, 's')`,
  notMatches: (text, value) => sql`NOT regexp_matches(${text}, ${value}, 's')`,
}

/** Whether texts are equal in any case: `l` takes the value literally, `i` folds the case. */
const equalsFolded: Condition<string> = (text, value) =>
  sql`regexp_full_match(${text}, ${value}, 'il')`
const containsFolded: Condition<string> = (text, value) =>
  sql`regexp_matches(${text}, ${value}, 'il')`

/** The operators where case does not matter. A text and its folded form have as many characters. */
export const FOLDED_OPERATORS: typeof STRING_OPERATORS = {
  any: STRING_OPERATORS.any,
  eq: equalsFolded,
  notEq: (text, value) => sql`NOT ${equalsFolded(text, value)}`,
  contains: containsFolded,
  notContains: (text, value) => sql`NOT ${containsFolded(text, value)}`,
  startsWith: (text, value) => equalsFolded(sql`left(${text}, length(${value}))`, value),
  endsWith: (text, value) => equalsFolded(sql`right(${text}, length(${value}))`, value),
  matches: (text, value) => sql`regexp_matches(${text}, ${value}, 'is')`,
  notMatches: (text, value) => sql`NOT regexp_matches(${text}, ${value}, 'is')`,
}

/** The operators that an event without the property satisfies; all others need it. */
export const SATISFIED_WITHOUT_PROPERTY: ReadonlySet<StringOperator> = new Set([
  'notEq',
  'notContains',
  'notMatches',
])

const listed: Condition<readonly string[]> = (text, values) =>
  values.length === 0 ? sql`FALSE` : sql`${text} IN (${join(values.map((one) => sql`${one}`))})`

export const LIST_OPERATORS: Readonly<Record<ListOperator, Condition<readonly string[]>>> = {
  oneOf: listed,
  noneOf: (text, values) => sql`NOT ${listed(text, values)}`,
}
