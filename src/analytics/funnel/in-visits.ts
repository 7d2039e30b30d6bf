/** Writes which users complete the steps of a funnel within a visit. */
import { join, numberedName, sql, type Sql } from '../../clickhouse/sql.js'
import { listLaterSteps, nameGap, nameMatches, type MatchingEvents } from './names.js'

/** The moments of all events of a visit that match a step. */
const nameMoments = (step: number): Sql => numberedName('step', step, 'moments')
/** The moment at which a visit completes a step first, or NEVER. */
const nameFirst = (step: number): Sql => numberedName('step', step, 'first')

/** More than a moment in milliseconds until 2100, and than any time between two. */
const NEVER = sql`toInt64(4398046511104)`

/**
 * Writes the users who complete the first step, each with a column `nameGap` for every other step.
 *
 * A visit completes a step with its first event of that step after the first completion of the step before. The time that it takes
 * begins with the last event of the step before: it is not earlier than the first completion of that, so it completes it as well.
 * Events of the same moment do not follow each other.
 *
 * Several visits of a user may complete a step: the first counts, or of several at the same moment the one with the smallest gap. So
 * the moment and the gap are compared as one number.
 */
export function writeCompletionsInVisits(events: MatchingEvents, count: number): Sql {
  const gaps = listLaterSteps(count).map((step) => {
    const first = nameFirst(step)
    const last = sql`arrayMax(one -> if(one < ${first}, one, 0), ${nameMoments(step - 1)})`
    const gap = sql`if(${first} < ${NEVER}, ${first} - ${last}, 0)`
    return sql`toInt64(min(toInt128(${first}) * ${NEVER} + ${gap}) % ${NEVER}) AS ${nameGap(step)}`
  })
  return sql`SELECT ${join(gaps)} FROM (${writeFirsts(events, count)}) AS visits GROUP BY owner`
}

/** Writes the visits that complete the first step, with the moments of all steps and the first completion of each but the first. */
function writeFirsts({ names, rows }: MatchingEvents, count: number): Sql {
  const steps = [1, ...listLaterSteps(count)]
  const moments = steps.map(nameMoments)
  const grouped = steps.map(
    (step) => sql`groupArrayIf(moment, ${nameMatches(step)}) AS ${nameMoments(step)}`,
  )
  let visits = sql`${names} SELECT any(user) AS owner, ${join(grouped)} FROM ${rows} GROUP BY session HAVING notEmpty(${nameMoments(1)})`
  const known: Sql[] = [sql`owner`, ...moments]
  for (const step of listLaterSteps(count)) {
    const before = step === 2 ? sql`arrayMin(${nameMoments(1)})` : nameFirst(step - 1)
    const own = nameMoments(step)
    // The smallest number of an empty array is 0.
    const first = sql`if(empty(${own}), ${NEVER}, arrayMin(one -> if(one > ${before}, one, ${NEVER}), ${own}))`
    visits = sql`SELECT ${join(known)}, ${first} AS ${nameFirst(step)} FROM (${visits}) AS visits`
    known.push(nameFirst(step))
  }
  return visits
}
