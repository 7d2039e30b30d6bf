/** Splits periods into the whole months or days that rows of a grain can answer, and the rest. */
import { addMs, DAY_MS, startOfDay, startOfMonth } from '../../lib/time.js'
import type { Grain } from '../../model/relations.js'
import type { Period } from '../request/period.js'

/** The start of the month or day that a moment lies in. */
const STARTS: Readonly<Record<Grain, (moment: Date) => Date>> = {
  month: (moment) => startOfMonth(moment),
  day: startOfDay,
  moment: (moment) => moment,
}

/** From the start of any month or day, this much later lies in the next one. */
const NEXT_MS: Readonly<Record<Grain, number>> = { month: 32 * DAY_MS, day: DAY_MS, moment: 0 }

/** The first start of a month or day that is not before a moment. */
function roundUp(moment: Date, grain: Grain): Date {
  const start = STARTS[grain](moment)
  if (start.getTime() === moment.getTime()) return moment
  return STARTS[grain](addMs(start, NEXT_MS[grain]))
}

export interface SplitPeriods {
  /** Whole months or days. */
  readonly inside: readonly Period[]
  readonly outside: readonly Period[]
}

/** Splits periods that do not overlap into their whole months or days, and what is left before and after those. */
export function splitByGrain(periods: readonly Period[], grain: Grain): SplitPeriods {
  const splits = periods.map(({ start, end }): SplitPeriods => {
    const whole = { start: roundUp(start, grain), end: STARTS[grain](end) }
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
