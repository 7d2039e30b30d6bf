/** Writes which users complete the steps of a funnel, and how long each step takes them. */
import { int64, join, sql, uint32, type Sql } from '../../clickhouse/sql.js'
import type { FunnelRequest } from '../../contract/api.js'
import { SECOND_MS } from '../../lib/time.js'

/** What is known of a user or visit, beside the arrays of its entries in order. */
const CARRIED = sql`unit, times, steps`

/**
 * Writes the users who complete the first step, each with `gaps`: an array with a number for each step, which is 0 if the user does
 * not complete it; else for the first step 1, and for any other the milliseconds from the step before.
 *
 * Each step is decided for all entries at once. `starts` has for each entry the latest start of a chain that has completed the step
 * before, and `lasts` the moment at which it did. The latest start is the best one: if a chain of any start reaches an entry in
 * time, so does this one. So the work grows with the entries and the steps, and not with the number of chains.
 *
 * @param entries a subquery of `user`, `session` and `entry`
 */
export function writeCompletions(
  entries: Sql,
  count: number,
  within: FunnelRequest['within'],
): Sql {
  const isVisit = within === 'visit'
  const unit = isVisit ? sql`session` : sql`user`
  const owner = isVisit ? sql`, any(user) AS owner` : sql``
  const carried = isVisit ? sql`${CARRIED}, owner` : CARRIED
  const none = isVisit ? NO_VISIT_COMPLETION : sql`0`
  const sorted = sql`SELECT ${unit} AS unit${owner}, arraySort(groupArray(entry)) AS entries FROM (${entries}) AS events GROUP BY unit HAVING max(entry % 16 = 15)`
  let table = sql`SELECT unit${isVisit ? sql`, owner` : sql``}, arrayMap(entry -> intDiv(entry, 16), entries) AS times, arrayMap(entry -> toUInt8(16 - entry % 16), entries) AS steps FROM (${sorted}) AS sorted`
  table = sql`SELECT ${carried}, ${carryOn(sql`(time, step) -> if(step = 1, time, 0)`, sql`times, steps`)} AS starts, starts AS lasts, [${isVisit ? sql`(toInt64(0), toInt64(1))` : sql`toInt64(1)`}] AS gaps FROM (${table}) AS step`
  for (let step = 2; step <= count; step++) {
    const inTime = isVisit ? sql`` : sql` AND time - start <= ${int64(within * SECOND_MS)}`
    const gap = sql`arrayMap((time, step, start, last) -> if(step = ${uint32(step)} AND start > 0${inTime}, time - last, 0), times, steps, starts, lasts)`
    const found = sql`SELECT ${carried}, starts, gaps, ${gap} AS found FROM (${table}) AS step`
    const first = isVisit
      ? sql`if(arrayExists(gap -> gap > 0, found), (arrayFirst((time, gap) -> gap > 0, times, found), arrayFirst(gap -> gap > 0, found)), ${none})`
      : sql`arrayFirst(gap -> gap > 0, found)`
    table = sql`SELECT ${join([
      carried,
      sql`${carryOn(sql`(gap, start) -> if(gap > 0, start, 0)`, sql`found, starts`)} AS next_starts`,
      sql`${carryOn(sql`(gap, time) -> if(gap > 0, time, 0)`, sql`found, times`)} AS lasts`,
      sql`arrayPushBack(gaps, ${first}) AS next_gaps`,
    ])} FROM (${found}) AS found`
    table = sql`SELECT ${carried}, next_starts AS starts, lasts, next_gaps AS gaps FROM (${table}) AS step`
  }
  if (!isVisit) return sql`SELECT gaps FROM (${table}) AS units`
  return sql`SELECT arrayMap(completion -> completion.2, minForEach(gaps)) AS gaps FROM (${table}) AS units GROUP BY owner`
}

/** A step that a visit does not complete, as moment and gap: later than any that it does. */
const NO_VISIT_COMPLETION = sql`(toInt64(9223372036854775807), toInt64(0))`

/** Writes an array of numbers in which each 0 is replaced by the number before. */
const carryOn = (lambda: Sql, arrays: Sql): Sql =>
  sql`arrayFill(x -> x > 0, arrayMap(${lambda}, ${arrays}))`
