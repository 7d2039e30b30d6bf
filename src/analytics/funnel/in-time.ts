/** Writes which users complete the steps of a funnel within a time. */
import { int64, join, sql, uint32, type Sql } from '../../clickhouse/sql.js'
import { listLaterSteps, nameGap, nameMatches, type MatchingEvents } from './names.js'

/**
 * An entry is a multiple of this for its moment, plus the number less 1 for the first step, less 2 for the second and so on. In the
 * statement it is no parameter: it stands there often, and ClickHouse takes some time to resolve each.
 */
const ENTRY_RADIX = 16
const RADIX = sql`16`

const getCode = (step: number): number => ENTRY_RADIX - step

/**
 * Writes the users who complete the first step, each with a column `nameGap` for every other step.
 *
 * Each step is decided for all entries of a user at once. `starts` has for each entry the latest start of a chain that has completed
 * the step before, and `lasts` the entry with which it did; both are 0 where there is none. The latest start is the best one: if a chain
 * of any start reaches an entry in time, so does this one. So the work grows with the entries and the steps, and not with the
 * number of chains.
 *
 * Few events take ClickHouse less time than the statement itself, so there are no more SELECTs than needed. With fewer, a step would
 * repeat what it takes from the one before.
 *
 * @param ms how long a chain may take, in milliseconds
 */
export function writeCompletionsInTime(events: MatchingEvents, count: number, ms: number): Sql {
  let users = writeEntries(events, count)
  const known: Sql[] = []
  for (const step of listLaterSteps(count).slice(0, -1)) {
    const found = sql`SELECT ${join([...known, sql`entries`, selectStarts(step)])}, ${findGaps(step, ms)} AS found FROM (${users}) AS users`
    const next = sql`arrayFill((start, gap) -> gap > 0, earlier, found) AS starts, arrayFill((entry, gap) -> gap > 0, entries, found) AS lasts`
    users = sql`SELECT ${join([...known, sql`entries`])}, ${next}, ${takeFirst(sql`found`)} AS ${nameGap(step)} FROM (${found}) AS users`
    known.push(nameGap(step))
  }
  const last = sql`${takeFirst(findGaps(count, ms))} AS ${nameGap(count)}`
  return sql`SELECT ${join([...known, selectStarts(count), last])} FROM (${users}) AS users`
}

/** Writes the starts before a step. The starts before the second step follow from the entries. */
const selectStarts = (step: number): Sql =>
  step === 2 ? sql`arrayFill(entry -> ${isOfStep(1)}, entries) AS earlier` : sql`starts AS earlier`

/**
 * Writes the entries of each user in order: a moment and the step that its event matches as one number. Among those of the same moment,
 * the entries of later steps come first: an event cannot follow another one of its moment. The first entry is a 0, so that every
 * array which follows from the entries begins with one. Where nothing matches the second step, no other entry is looked at.
 */
function writeEntries({ names, rows }: MatchingEvents, count: number): Sql {
  const ofSteps = [1, ...listLaterSteps(count)].map(
    (step) => sql`groupArrayIf(moment * ${RADIX} + ${uint32(getCode(step))}, ${nameMatches(step)})`,
  )
  const sorted = sql`arraySort(arrayConcat([toInt64(0)], ${join(ofSteps)}))`
  return sql`${names} SELECT if(max(${nameMatches(2)}), ${sorted}, [toInt64(0)]) AS entries FROM ${rows} GROUP BY user HAVING max(${nameMatches(1)})`
}

/**
 * Writes for each entry that completes a step how far it lies behind the one that completes the step before, else 0. The difference of
 * two entries has that of their steps in it.
 */
function findGaps(step: number, ms: number): Sql {
  const most = int64(ms * ENTRY_RADIX + getCode(step) - getCode(1))
  // A chain of one step ends where it starts.
  const lasts = step === 2 ? sql`earlier` : sql`lasts`
  return sql`arrayMap((entry, start, last) -> if(${isOfStep(step)} AND start > 0 AND entry - start <= ${most}, entry - last, 0), entries, earlier, ${lasts})`
}

const isOfStep = (step: number): Sql => sql`entry % ${RADIX} = ${uint32(getCode(step))}`

/** Writes the first gap in milliseconds. */
const takeFirst = (gaps: Sql): Sql => sql`intDiv(arrayFirst(gap -> gap > 0, ${gaps}) + 1, ${RADIX})`
