/** Bodies of queries that are refused, and made to cost as much as a body of their size can. */

const many = (count: number, item: string): string =>
  Array.from({ length: count }, () => item).join(',')
const UNKNOWN = Array.from({ length: 5_000 }, (_, index) => `"k${index}":1`).join(',')
const VALUES = Array.from(
  { length: 20 },
  () => `{"type":"device","operator":"oneOf","value":[${many(480, '1')}]}`,
)

/** Each with what it has too much of. */
export const HOSTILE_BODIES: readonly (readonly [what: string, body: string])[] = [
  ['unknown properties', `{${UNKNOWN}}`],
  ['groupings', `{"group_by":[${many(20_000, '""')}]}`],
  ['metrics', `{"metrics":[${many(20_000, '""')}]}`],
  ['orders', `{"order_by":[${many(12_000, '[""]')}]}`],
  ['filters', `{"filters":[${many(30_000, '1')}]}`],
  ['filters without members', `{"filters":[${many(3_000, '{"type":"device"}')}]}`],
  ['values', `{"filters":[{"type":"device","value":[${many(30_000, '1')}]}]}`],
  ['values of all filters', `{"filters":[${VALUES.join(',')}]}`],
  ['slashes', `{"${'/'.repeat(60_000)}":1}`],
  ['dots', `{"${'.'.repeat(60_000)}":1}`],
  ['brackets', '['.repeat(60_000)],
]
