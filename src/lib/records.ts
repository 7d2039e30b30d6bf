/** Builds records whose keys are a closed set of names. The casts that TypeScript needs for that are here alone. */

/** The keys of a record that has no others than its type names. */
export const listKeys = <Key extends string>(
  record: Readonly<Record<Key, unknown>>,
): readonly Key[] => Object.keys(record) as Key[]

/** The record with one entry for each key, in the order of the keys. */
export const buildRecord = <Key extends string, Value>(
  keys: readonly Key[],
  build: (key: Key) => Value,
): Readonly<Record<Key, Value>> =>
  Object.fromEntries(keys.map((key) => [key, build(key)])) as Record<Key, Value>

/** The record with the same keys, and for each what `map` makes of the key and its row. */
export const mapRecord = <Key extends string, Row, Value>(
  record: Readonly<Record<Key, Row>>,
  map: (key: Key, row: Row) => Value,
): Readonly<Record<Key, Value>> => buildRecord(listKeys(record), (key) => map(key, record[key]))

/** Rows by their names. Every name of the type must have a row. */
export const indexByName = <Name extends string, Row extends { readonly name: Name }>(
  rows: readonly (Row & { readonly name: Name })[],
): Readonly<Record<Name, Row>> =>
  Object.fromEntries(rows.map((row) => [row.name, row])) as Record<Name, Row>
