/** Writes which users complete the steps of a funnel, and how long each step takes them. */
import { int64, sql, uint32, type Sql } from '../../clickhouse/sql.js'
import type { FunnelRequest } from '../../contract/api.js'
import { SECOND_MS } from '../../lib/time.js'

/** How completions are grouped: by user, or by visit and then by user. */
interface Units {
  /** Selects the owner of a unit, and groups by the unit. */
  readonly owner: Sql
  readonly group: Sql
  /** Writes the completion of a step, from the moments `times` of entries and from `found`, the time each took, or 0. */
  readonly completion: Sql
  /** The completion of the first step. */
  readonly first: Sql
  /** Writes the gaps of users from the completions of their units. */
  readonly selectGaps: (units: Sql) => Sql
}

/** A user completes a step once, so a completion is its gap. */
const USERS: Units = {
  owner: sql`user AS owner`,
  group: sql`user`,
  completion: sql`arrayFirst(gap -> gap > 0, found)`,
  first: sql`toInt64(1)`,
  selectGaps: (units) => sql`SELECT completions AS gaps FROM (${units}) AS units`,
}

/** More than a moment in milliseconds until 2100, and than any time between two. */
const RADIX = sql`toInt128(4398046511104)`

/**
 * Several visits of a user may complete a step: the first counts, or of several at the same moment the one with the smallest gap. So
 * a completion is the moment and the gap as one number.
 */
const VISITS: Units = {
  owner: sql`any(user) AS owner`,
  group: sql`session`,
  completion: sql`if(arrayExists(gap -> gap > 0, found), arrayFirst((time, gap) -> gap > 0, times, found) * ${RADIX} + arrayFirst(gap -> gap > 0, found), ${RADIX} * ${RADIX})`,
  first: sql`toInt128(1)`,
  selectGaps: (units) =>
    sql`SELECT arrayMap(completion -> toInt64(completion % ${RADIX}), minForEach(completions)) AS gaps FROM (${units}) AS units GROUP BY owner`,
}

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
  const units = within === 'visit' ? VISITS : USERS
  const inTime = within === 'visit' ? sql`` : sql` AND time - start <= ${int64(within * SECOND_MS)}`
  let table = beginChains(entries, units)
  for (let step = 2; step <= count; step++) table = addStep(table, step, units, inTime)
  return units.selectGaps(table)
}

/** Where nothing matches the second step, no entry is looked at. */
function beginChains(entries: Sql, { owner, group, first }: Units): Sql {
  const sorted = sql`SELECT ${owner}, if(max(entry % 16 = 14), arraySort(groupArray(entry)), emptyArrayInt64()) AS entries FROM (${entries}) AS events GROUP BY ${group} HAVING max(entry % 16 = 15)`
  const parsed = sql`SELECT owner, arrayMap(entry -> intDiv(entry, 16), entries) AS times, arrayMap(entry -> toUInt8(16 - entry % 16), entries) AS steps FROM (${sorted}) AS sorted`
  const starts = carryOn(sql`(time, step) -> if(step = 1, time, 0)`, sql`times, steps`)
  return sql`SELECT owner, times, steps, ${starts} AS starts, starts AS lasts, [${first}] AS completions FROM (${parsed}) AS parsed`
}

function addStep(table: Sql, step: number, { completion }: Units, inTime: Sql): Sql {
  const gaps = sql`arrayMap((time, step, start, last) -> if(step = ${uint32(step)} AND start > 0${inTime}, time - last, 0), times, steps, starts, lasts)`
  const found = sql`SELECT owner, times, steps, starts AS earlier, completions AS before, ${gaps} AS found FROM (${table}) AS step`
  const starts = carryOn(sql`(gap, start) -> if(gap > 0, start, 0)`, sql`found, earlier`)
  const lasts = carryOn(sql`(gap, time) -> if(gap > 0, time, 0)`, sql`found, times`)
  return sql`SELECT owner, times, steps, ${starts} AS starts, ${lasts} AS lasts, arrayPushBack(before, ${completion}) AS completions FROM (${found}) AS found`
}

/** Writes an array of numbers in which each 0 is replaced by the number before. */
const carryOn = (lambda: Sql, arrays: Sql): Sql =>
  sql`arrayFill(x -> x > 0, arrayMap(${lambda}, ${arrays}))`
