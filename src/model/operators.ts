/** The operators of filter clauses as SQL: on a value, and on a property that may be missing. */
import type { ListOperator, StringOperator } from '../contract/api.js'
import { mapRecord } from '../lib/records.js'
import { not, sql, string, strings, TRUE, type Sql } from '../clickhouse/sql.js'

/** Builds a condition on a text. Comparisons are literal and bytewise, except patterns. */
type StringCondition = (text: Sql, value: string) => Sql

const equals: StringCondition = (text, value) => sql`${text} = ${string(value)}`
// position() finds the empty string in every text, the empty one included.
const contains: StringCondition = (text, value) => sql`position(${text}, ${string(value)}) > 0`
/**
 * An alternative that never matches. Without one, ClickHouse first searches for a text that every match contains. It finds that
 * text byte by byte, so for `é*` it would search for the first byte of `é`; and it searches for `)` without compiling it.
 */
const NEVER = '[^\\x00-\\x{10FFFF}]'

// Unlike RE2 elsewhere, `.` matches line breaks.
const matches: StringCondition = (text, value) =>
  sql`match(${text}, ${string(`${NEVER}|${value}`)})`

export const STRING_OPERATORS: Readonly<Record<StringOperator, StringCondition>> = {
  any: (text) => sql`notEmpty(${text})`,
  eq: equals,
  notEq: (text, value) => not(equals(text, value)),
  contains,
  notContains: (text, value) => not(contains(text, value)),
  startsWith: (text, value) => sql`startsWith(${text}, ${string(value)})`,
  endsWith: (text, value) => sql`endsWith(${text}, ${string(value)})`,
  matches,
  notMatches: (text, value) => not(matches(text, value)),
}

/** Writes a text as a pattern that matches it in any case. RE2 compares by the simple case folding of Unicode. */
const fold = (value: string): string => `(?i)${value.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')}`

const equalsFolded: StringCondition = (text, value) => matches(text, `\\A${fold(value)}\\z`)
const containsFolded: StringCondition = (text, value) => matches(text, fold(value))
const matchesFolded: StringCondition = (text, value) => matches(text, `(?i)${value}`)

/**
 * The same operators where upper and lower case are one. lowerUTF8() would not do: it lowers a final Σ to ς, so that a word
 * would no longer contain the lower case of its last letter, and İ to two characters.
 */
export const FOLDED_OPERATORS: typeof STRING_OPERATORS = {
  any: STRING_OPERATORS.any,
  eq: equalsFolded,
  notEq: (text, value) => not(equalsFolded(text, value)),
  contains: containsFolded,
  notContains: (text, value) => not(containsFolded(text, value)),
  startsWith: (text, value) => matches(text, `\\A${fold(value)}`),
  endsWith: (text, value) => matches(text, `${fold(value)}\\z`),
  matches: matchesFolded,
  notMatches: (text, value) => not(matchesFolded(text, value)),
}

/** Whether an operator negates another. A text that is missing satisfies it. */
export const isNegation = (operator: StringOperator): boolean =>
  operator === 'notEq' || operator === 'notContains' || operator === 'notMatches'

/** Builds a condition on the event property called `name`, which an event may lack. */
type PropertyCondition = (name: string, value: string) => Sql
export type PropertyConditions = Readonly<Record<StringOperator, PropertyCondition>>

/** An event without the property matches only negations: `notEq` is the exact complement of `eq`. */
const requireProperty =
  (condition: StringCondition): PropertyCondition =>
  (name, value) =>
    sql`(mapContains(properties, ${string(name)}) AND ${condition(sql`properties[${string(name)}]`, value)})`

const negate =
  (condition: PropertyCondition): PropertyCondition =>
  (name, value) =>
    not(condition(name, value))

/** Builds the operators on properties of events from those on texts. */
export function buildPropertyConditions(texts: typeof STRING_OPERATORS): PropertyConditions {
  const own = mapRecord(texts, (_operator, condition) => requireProperty(condition))
  return {
    ...own,
    any: (name) => sql`mapContains(properties, ${string(name)})`,
    notEq: negate(own.eq),
    notContains: negate(own.contains),
    notMatches: negate(own.matches),
  }
}

/** Builds the operators on rows of the rollup by a property: all of them have the property, and `value` holds its text. */
export const buildPresentConditions = (texts: typeof STRING_OPERATORS): PropertyConditions => ({
  ...mapRecord(
    texts,
    (_operator, condition): PropertyCondition =>
      (_name, value) =>
        condition(sql`value`, value),
  ),
  any: () => TRUE,
})

export const LIST_OPERATORS: Readonly<
  Record<ListOperator, (text: Sql, values: readonly string[]) => Sql>
> = {
  oneOf: (text, values) => sql`${text} IN ${strings(values)}`,
  noneOf: (text, values) => not(sql`${text} IN ${strings(values)}`),
}
