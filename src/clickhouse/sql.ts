/** SQL fragments: every value in them is a typed parameter. */
import { formatDay } from '../lib/time.js'

type Scalar = 'String' | 'Bool' | 'UInt32' | 'UInt64' | 'Int64' | 'Date'
/** The ClickHouse types of parameters. */
type ParameterType = Scalar | `Array(${Scalar})` | `Nullable(${Scalar})` | 'Identifier'

type ParameterValue =
  string | number | boolean | null | readonly string[] | readonly number[] | readonly bigint[]

interface Parameter {
  readonly type: ParameterType
  readonly value: ParameterValue
}

/** A statement as the client sends it: a text with placeholders, and their values. */
export interface Statement {
  readonly query: string
  readonly query_params: Readonly<Record<string, ParameterValue>>
}

/**
 * A piece of SQL. The private field makes it impossible to forge: neither the compiler nor the runtime accepts a
 * plain string, or an object from a request body, as a fragment.
 */
class Fragment {
  readonly #chunks: readonly (string | Parameter)[]

  constructor(chunks: readonly (string | Parameter)[]) {
    this.#chunks = chunks
    Object.freeze(this)
  }

  static getChunks(fragment: Fragment): readonly (string | Parameter)[] {
    return fragment.#chunks
  }
}
export type Sql = Fragment

/**
 * The template tag that creates fragments. The text is part of the source code; the substitutions are fragments.
 *
 * @throws TypeError when called as a function with a text built at run time
 */
export function sql(text: TemplateStringsArray, ...substitutions: readonly Sql[]): Sql {
  if (!Array.isArray(text.raw) || !Object.isFrozen(text.raw)) {
    throw new TypeError('sql is a template tag; it takes no text built at run time')
  }
  return new Fragment(
    text.flatMap((part, i) => {
      const substitution = substitutions[i]
      return substitution === undefined ? [part] : [part, ...Fragment.getChunks(substitution)]
    }),
  )
}

/** Joins fragments with a separator; an empty list gives an empty fragment. */
export function join(fragments: readonly Sql[], separator = sql`, `): Sql {
  const between = Fragment.getChunks(separator)
  return new Fragment(
    fragments.flatMap((fragment, i) => [
      ...(i === 0 ? [] : between),
      ...Fragment.getChunks(fragment),
    ]),
  )
}

export const TRUE = sql`true`
const FALSE = sql`false`

/** Returns whether a condition is the literal `true`, which a conjunction can leave out. */
export function isTrue(condition: Sql): boolean {
  const chunks = Fragment.getChunks(condition)
  return chunks.every((chunk) => typeof chunk === 'string') && chunks.join('') === 'true'
}

/** Returns a condition that holds where all conditions hold; `and([])` is true. */
export const and = (conditions: readonly Sql[]): Sql =>
  combine(
    conditions.filter((condition) => !isTrue(condition)),
    sql` AND `,
    TRUE,
  )

/** Returns a condition that holds where any condition holds; `or([])` is false. */
export const or = (conditions: readonly Sql[]): Sql =>
  conditions.some(isTrue) ? TRUE : combine(conditions, sql` OR `, FALSE)

/** Returns the negation of a condition. */
export const not = (condition: Sql): Sql => sql`NOT (${condition})`

function combine(conditions: readonly Sql[], separator: Sql, empty: Sql): Sql {
  const [first, ...rest] = conditions
  if (first === undefined) return empty
  return rest.length === 0 ? first : sql`(${join(conditions, separator)})`
}

const parameter = (type: ParameterType, value: ParameterValue): Sql =>
  new Fragment([{ type, value }])

// Each of these passes a value as a parameter of the named ClickHouse type.
export const string = (value: string): Sql => parameter('String', value)
export const strings = (values: readonly string[]): Sql => parameter('Array(String)', values)
export const boolean = (value: boolean): Sql => parameter('Bool', value)
export const uint32 = (value: number): Sql => parameter('UInt32', value)
export const uint32s = (values: readonly number[]): Sql => parameter('Array(UInt32)', values)
export const uint64 = (value: number): Sql => parameter('UInt64', value)
export const uint64s = (values: readonly bigint[]): Sql => parameter('Array(UInt64)', values)
export const int64 = (value: number): Sql => parameter('Int64', value)
export const int64s = (values: readonly number[]): Sql => parameter('Array(Int64)', values)
export const optionalUint32 = (value: number | null): Sql => parameter('Nullable(UInt32)', value)

/**
 * Passes the name of a table or a database as a parameter, for a name known only at run time, such as a numbered table.
 *
 * @throws TypeError for a name that would need quotes
 */
export const identifier = (name: string): Sql => parameter('Identifier', requireBareName(name))

/** Returns a name that needs no quotes. @throws TypeError for any other */
export function requireBareName(name: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return name
  throw new TypeError('not a name of a table or database')
}

/** The members of `Name` that are literals: not `string`, and no template with a `string` in it. */
type Literals<Name extends string> = Name extends unknown
  ? { '': 0 } extends Record<Name, unknown>
    ? never
    : Name
  : never

/**
 * Writes the name of a table or column into the text, for names that src/model declares. REPLACE PARTITION, the text of
 * a view and an alias accept no Identifier parameter. No run-time value can become text this way: the compiler accepts
 * only literals from the source, and the check at run time accepts only a single bare word.
 *
 * @throws TypeError for anything but lower-case letters and underscores
 */
export function declaredName<Name extends string>(
  name: Name,
  ..._onlyLiterals: [Name] extends [Literals<Name>] ? [] : [never]
): Sql {
  if (!/^[a-z_]+$/.test(name)) throw new TypeError('not a name that the model declares')
  return new Fragment([name])
}

/** Writes a declared name with a number in it into the text: `draft`, 7 and `events_daily` give `draft_7_events_daily`. */
export function numberedName<Kind extends string, Name extends string>(
  kind: Kind,
  number: number,
  name: Name,
  ..._onlyLiterals: [Kind | Name] extends [Literals<Kind | Name>] ? [] : [never]
): Sql {
  if (!Number.isSafeInteger(number) || number < 0) throw new TypeError('not the number of a name')
  if (![kind, name].every((word) => /^[a-z_]+$/.test(word))) {
    throw new TypeError('not a name that the model declares')
  }
  return new Fragment([`${kind}_${number}_${name}`])
}

/**
 * Writes the name of a database into the text of BACKUP and RESTORE, which accept no Identifier parameter.
 *
 * @throws TypeError for a name that would need quotes
 */
export function databaseName(name: string): Sql {
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(name)) throw new TypeError('not a name of a database')
  return new Fragment([name])
}

/** Passes the UTC days of some moments as a parameter. They are those of a ClickHouse `Date`: 1970 to 2148. */
export const dates = (values: readonly Date[]): Sql =>
  parameter('Array(Date)', values.map(formatDay))

/**
 * Passes a moment as a parameter, to the millisecond. It is the number of milliseconds since 1970: ClickHouse sends a parameter of a
 * time type to other servers as the text of its seconds, and reads eight digits of it as a year, a month and a day.
 */
export const time = (value: Date): Sql => toTime(int64(value.getTime()))
/** Passes a moment or null as a parameter, as `time` does. */
export const optionalTime = (value: Date | null): Sql =>
  toTime(parameter('Nullable(Int64)', value?.getTime() ?? null))

const toTime = (milliseconds: Sql): Sql => sql`fromUnixTimestamp64Milli(${milliseconds}, 'UTC')`

/** Formats a moment as ClickHouse reads it, in UTC to the millisecond: `2026-01-31 10:00:00.000`. */
export const formatTime = (value: Date): string =>
  value.toISOString().replace('T', ' ').slice(0, 23)

/**
 * Renders a fragment. Parameters are named by their order: `{p0:String}`, `{p1:UInt32}`, … A fragment that occurs twice uses the
 * same parameters. Different fragments never share one, even for equal values, so the text does not depend on the values.
 */
export function statement(fragment: Sql): Statement {
  const query_params: Record<string, ParameterValue> = {}
  const names = new Map<Parameter, string>()
  const text = Fragment.getChunks(fragment).map((chunk) => {
    if (typeof chunk === 'string') return chunk
    const name = names.get(chunk) ?? `p${names.size}`
    names.set(chunk, name)
    query_params[name] = chunk.value
    return `{${name}:${chunk.type}}`
  })
  return { query: text.join(''), query_params }
}
