/** Splits periods into the parts that rows of a grain can answer, whole months or days, and the rest. */
import { addMs, DAY_MS, startOfDay, startOfMonth } from '../../lib/time.js'
import type { Grain } from '../../model/relations.js'
import type { Period } from '../request/period.js'

/** Rounds a moment down to the start of its month or day. */
const ROUND_DOWN: Readonly<Record<Grain, (moment: Date) => Date>> = {
  month: (moment) => startOfMonth(moment),
  day: startOfDay,
  moment: (moment) => moment,
}

/** Added to the start of a month or day, this reaches into the next one. */
const NEXT_MS: Readonly<Record<Grain, number>> = { month: 32 * DAY_MS, day: DAY_MS, moment: 0 }

/** Rounds a moment up to the start of a month or day. */
function roundUp(moment: Date, grain: Grain): Date {
  const start = ROUND_DOWN[grain](moment)
  if (start.getTime() === moment.getTime()) return moment
  return ROUND_DOWN[grain](addMs(start, NEXT_MS[grain]))
}

export interface SplitPeriods {
  /** Whole months or days; the periods themselves for the grain `moment`. */
  readonly inside: readonly Period[]
  /** The rest, before and after those. */
  readonly outside: readonly Period[]
}

/** Splits periods that do not overlap into their whole months or days and the rest. */
export function splitByGrain(periods: readonly Period[], grain: Grain): SplitPeriods {
  const splits = periods.map(({ start, end }): SplitPeriods => {
    const whole = { start: roundUp(start, grain), end: ROUND_DOWN[grain](end) }
    if (isEmpty(whole)) return { inside: [], outside: [{ start, end }] }
    const edges = [
      { start, end: whole.start },
      { start: whole.end, end },
    ]
    return { inside: [whole], outside: edges.filter((edge) => !isEmpty(edge)) }
  })
  return {
    inside: splits.flatMap(({ inside }) => inside),
    outside: splits.flatMap(({ outside }) => outside),
  }
}

const isEmpty = ({ start, end }: Period): boolean => start >= end
