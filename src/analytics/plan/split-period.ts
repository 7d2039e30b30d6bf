/** Cuts periods into the part that rows of a grain can answer, and the rest. */
import type { Grain } from '../../model/relations.js'
import type { Period } from '../request/period.js'

const DAY = 86_400_000

/** The last start of a whole month or day that is not after a moment. */
const STARTS: Readonly<Record<Grain, (moment: Date) => Date>> = {
  month: (moment) => {
    const start = new Date(moment)
    start.setUTCDate(1)
    start.setUTCHours(0, 0, 0, 0)
    return start
  },
  day: (moment) => new Date(Math.floor(moment.getTime() / DAY) * DAY),
  moment: (moment) => moment,
}

/** More than a month, from the first of any. */
const NEXT: Readonly<Record<Grain, number>> = { month: 32 * DAY, day: DAY, moment: 0 }

/** The first start of a whole month or day that is not before a moment. */
function startFrom(moment: Date, grain: Grain): Date {
  const last = STARTS[grain](moment)
  if (last.getTime() === moment.getTime()) return moment
  return STARTS[grain](new Date(last.getTime() + NEXT[grain]))
}

export interface Aligned {
  /** Whole months or days. */
  readonly inside: readonly Period[]
  readonly outside: readonly Period[]
}

/** The whole months or days of periods that do not overlap, and what is left of them before and behind. */
export function align(periods: readonly Period[], grain: Grain): Aligned {
  const cut = periods.map(({ start, end }) => {
    const inside = { start: startFrom(start, grain), end: STARTS[grain](end) }
    if (isEmpty(inside)) return { inside: [], outside: [{ start, end }] }
    const edges = [
      { start, end: inside.start },
      { start: inside.end, end },
    ]
    return { inside: [inside], outside: edges.filter((edge) => !isEmpty(edge)) }
  })
  return {
    inside: cut.flatMap(({ inside }) => inside),
    outside: cut.flatMap(({ outside }) => outside),
  }
}

const isEmpty = ({ start, end }: Period): boolean => start >= end
