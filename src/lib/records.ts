/**
 * Builds records whose keys are a closed set of names, and recognizes records. The type casts that this needs are
 * confined to this file.
 */

/** Lists the keys of a record. The record must have no keys beyond those of its type. */
export const listKeys = <Key extends string>(
  record: Readonly<Record<Key, unknown>>,
): readonly Key[] => Object.keys(record) as Key[]

/** Builds a record with one entry per key, in the order of `keys`. */
export const buildRecord = <Key extends string, Value>(
  keys: readonly Key[],
  build: (key: Key) => Value,
): Readonly<Record<Key, Value>> =>
  Object.fromEntries(keys.map((key) => [key, build(key)])) as Record<Key, Value>

/** Builds a record with the same keys, where each value is `map(key, row)`. */
export const mapRecord = <Key extends string, Row, Value>(
  record: Readonly<Record<Key, Row>>,
  map: (key: Key, row: Row) => Value,
): Readonly<Record<Key, Value>> => buildRecord(listKeys(record), (key) => map(key, record[key]))

/** Indexes rows by their names. Every name of the type must have a row. */
export const indexByName = <Name extends string, Row extends { readonly name: Name }>(
  rows: readonly (Row & { readonly name: Name })[],
): Readonly<Record<Name, Row>> =>
  Object.fromEntries(rows.map((row) => [row.name, row])) as Record<Name, Row>

/** Returns whether a value is an object other than an array. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
