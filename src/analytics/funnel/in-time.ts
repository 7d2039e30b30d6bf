/** Writes which users complete the steps of a funnel within a time. */
import { int64, join, sql, uint32, type Sql } from '../../clickhouse/sql.js'
import { listLaterSteps, nameGap, nameMatches } from './names.js'

/** An entry is a multiple of this for its moment, plus the number less 1 for the first step, less 2 for the second and so on. */
export const ENTRY_RADIX = 16

const getCode = (step: number): number => ENTRY_RADIX - step

/**
 * Writes the users who complete the first step, each with a column `nameGap` for every other step.
 *
 * Each step is decided for all entries of a user at once. `starts` has for each entry the latest start of a chain that has completed
 * the step before, and `lasts` the entry with which it did; both are 0 where there is none. The latest start is the best one: if a chain
 * of any start reaches an entry in time, so does this one. So the work grows with the entries and the steps, and not with the
 * number of chains.
 *
 * @param events a subquery of `user`, `moment` (milliseconds, positive) and `nameMatches` of every step
 * @param ms how long a chain may take, in milliseconds
 */
export function writeCompletionsInTime(events: Sql, count: number, ms: number): Sql {
  const later = listLaterSteps(count)
  const starts = sql`arrayFill(entry -> entry % ${uint32(ENTRY_RADIX)} = ${uint32(getCode(1))}, entries)`
  let users = sql`SELECT entries, ${starts} AS starts, starts AS lasts FROM (${writeEntries(events, count)}) AS users`
  const known: Sql[] = []
  for (const step of later.slice(0, -1)) {
    const found = sql`SELECT ${join([...known, sql`entries, starts AS earlier`])}, ${findGaps(step, ms)} AS found FROM (${users}) AS users`
    const next = sql`arrayFill((start, gap) -> gap > 0, earlier, found) AS starts, arrayFill((entry, gap) -> gap > 0, entries, found) AS lasts`
    users = sql`SELECT ${join([...known, sql`entries`])}, ${next}, ${takeFirst(sql`found`)} AS ${nameGap(step)} FROM (${found}) AS users`
    known.push(nameGap(step))
  }
  const last = sql`${takeFirst(findGaps(count, ms))} AS ${nameGap(count)}`
  return sql`SELECT ${join([...known, last])} FROM (${users}) AS users`
}

/**
 * Writes the entries of each user in order: a moment and the step that its event matches as one number. Among those of the same moment,
 * the entries of later steps come first: an event cannot follow another one of its moment. The first entry is a 0, so that every
 * array which follows from the entries begins with one. Where nothing matches the second step, no other entry is looked at.
 */
function writeEntries(events: Sql, count: number): Sql {
  const ofSteps = [1, ...listLaterSteps(count)].map(
    (step) =>
      sql`groupArrayIf(moment * ${uint32(ENTRY_RADIX)} + ${uint32(getCode(step))}, ${nameMatches(step)})`,
  )
  const sorted = sql`arraySort(arrayConcat([toInt64(0)], ${join(ofSteps)}))`
  return sql`SELECT if(max(${nameMatches(2)}), ${sorted}, [toInt64(0)]) AS entries FROM (${events}) AS events GROUP BY user HAVING max(${nameMatches(1)})`
}

/**
 * Writes for each entry that completes a step how far it lies behind the one that completes the step before, else 0. The difference of
 * two entries has that of their steps in it.
 */
function findGaps(step: number, ms: number): Sql {
  const isOfStep = sql`entry % ${uint32(ENTRY_RADIX)} = ${uint32(getCode(step))}`
  const most = int64(ms * ENTRY_RADIX + getCode(step) - getCode(1))
  return sql`arrayMap((entry, start, last) -> if(${isOfStep} AND start > 0 AND entry - start <= ${most}, entry - last, 0), entries, starts, lasts)`
}

/** Writes the first gap in milliseconds. */
const takeFirst = (gaps: Sql): Sql =>
  sql`intDiv(arrayFirst(gap -> gap > 0, ${gaps}) + 1, ${uint32(ENTRY_RADIX)})`
