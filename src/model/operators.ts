/** The operators of filter clauses as SQL: on a value, and on a property that may be missing. */
import type { ListOperator, StringOperator } from '../contract/api.js'
import { mapRecord } from '../lib/records.js'
import { not, sql, string, strings, TRUE, type Sql } from '../clickhouse/sql.js'

/** Builds a condition on a text. Comparisons are literal and bytewise. */
type StringCondition = (text: Sql, value: string) => Sql

const equals: StringCondition = (text, value) => sql`${text} = ${string(value)}`
// position() finds the empty string in every text, the empty one included.
const contains: StringCondition = (text, value) => sql`position(${text}, ${string(value)}) > 0`

export const STRING_OPERATORS: Readonly<Record<StringOperator, StringCondition>> = {
  any: (text) => sql`notEmpty(${text})`,
  eq: equals,
  notEq: (text, value) => not(equals(text, value)),
  contains,
  notContains: (text, value) => not(contains(text, value)),
  startsWith: (text, value) => sql`startsWith(${text}, ${string(value)})`,
  endsWith: (text, value) => sql`endsWith(${text}, ${string(value)})`,
}

/** An event without the property matches only negations: `notEq` is the exact complement of `eq`. */
const requireProperty =
  (condition: StringCondition): PropertyCondition =>
  (name, value) =>
    sql`(mapContains(properties, ${string(name)}) AND ${condition(sql`properties[${string(name)}]`, value)})`

/** Builds a condition on the event property called `name`, which an event may lack. */
export type PropertyCondition = (name: string, value: string) => Sql

export const PROPERTY_OPERATORS: Readonly<Record<StringOperator, PropertyCondition>> = {
  any: (name) => sql`mapContains(properties, ${string(name)})`,
  eq: requireProperty(STRING_OPERATORS.eq),
  notEq: (name, value) => not(requireProperty(STRING_OPERATORS.eq)(name, value)),
  contains: requireProperty(STRING_OPERATORS.contains),
  notContains: (name, value) => not(requireProperty(STRING_OPERATORS.contains)(name, value)),
  startsWith: requireProperty(STRING_OPERATORS.startsWith),
  endsWith: requireProperty(STRING_OPERATORS.endsWith),
}

/** The operators on rows of the rollup by that property: all of them have the property, and `value` holds its text. */
export const PRESENT_OPERATORS: typeof PROPERTY_OPERATORS = {
  ...mapRecord(
    STRING_OPERATORS,
    (_operator, condition): PropertyCondition =>
      (_name, value) =>
        condition(sql`value`, value),
  ),
  any: () => TRUE,
}

export const LIST_OPERATORS: Readonly<
  Record<ListOperator, (text: Sql, values: readonly string[]) => Sql>
> = {
  oneOf: (text, values) => sql`${text} IN ${strings(values)}`,
  noneOf: (text, values) => not(sql`${text} IN ${strings(values)}`),
}
