/** The operators of clauses: what each means for a value, or for a property that may be missing. */
import type { ListOperator, StringOperator } from '../contract/api.js'
import { not, sql, string, strings, TRUE, type Sql } from '../clickhouse/sql.js'

/** A condition on a text; comparisons are literal and bytewise. */
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

/** An event without the property satisfies the negations alone: each is the complement of its twin. */
const present =
  (condition: StringCondition): PropertyCondition =>
  (name, value) =>
    sql`(mapContains(properties, ${string(name)}) AND ${condition(sql`properties[${string(name)}]`, value)})`

/** A condition on an event's property of that name. */
export type PropertyCondition = (name: string, value: string) => Sql

export const PROPERTY_OPERATORS: Readonly<Record<StringOperator, PropertyCondition>> = {
  any: (name) => sql`mapContains(properties, ${string(name)})`,
  eq: present(STRING_OPERATORS.eq),
  notEq: (name, value) => not(present(STRING_OPERATORS.eq)(name, value)),
  contains: present(STRING_OPERATORS.contains),
  notContains: (name, value) => not(present(STRING_OPERATORS.contains)(name, value)),
  startsWith: present(STRING_OPERATORS.startsWith),
  endsWith: present(STRING_OPERATORS.endsWith),
}

const ofValue =
  (condition: StringCondition): PropertyCondition =>
  (_name, value) =>
    condition(sql`value`, value)

/** The same for rows that are there for a property: it is present, and its text is their `value`. */
export const PRESENT_OPERATORS: typeof PROPERTY_OPERATORS = {
  any: () => TRUE,
  eq: ofValue(STRING_OPERATORS.eq),
  notEq: ofValue(STRING_OPERATORS.notEq),
  contains: ofValue(STRING_OPERATORS.contains),
  notContains: ofValue(STRING_OPERATORS.notContains),
  startsWith: ofValue(STRING_OPERATORS.startsWith),
  endsWith: ofValue(STRING_OPERATORS.endsWith),
}

export const LIST_OPERATORS: Readonly<
  Record<ListOperator, (text: Sql, values: readonly string[]) => Sql>
> = {
  oneOf: (text, values) => sql`${text} IN ${strings(values)}`,
  noneOf: (text, values) => not(sql`${text} IN ${strings(values)}`),
}
