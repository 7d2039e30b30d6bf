/** Splits periods into the parts that rows of a grain can answer, whole months or days, and the rest. */
import { addDays, addMs, DAY_MS, startOfDay, startOfMonth } from '../../lib/time.js'
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

/** Cuts periods at some moments. Both are in order. */
export function cutAt(periods: readonly Period[], moments: readonly Date[]): readonly Period[] {
  if (moments.length === 0) return periods
  let next = 0
  return periods.flatMap(({ start, end }) => {
    const bounds = [start]
    for (; next < moments.length; next += 1) {
      const moment = moments[next]
      if (moment === undefined || moment >= end) break
      if (moment > start) bounds.push(moment)
    }
    return bounds.map((from, i) => ({ start: from, end: bounds[i + 1] ?? end }))
  })
}

/** Joins periods of which one ends where the next one starts. They are in order. */
export function joinAdjacent(periods: readonly Period[]): readonly Period[] {
  const joined: Period[] = []
  for (const period of periods) {
    const last = joined.at(-1)
    if (last?.end.getTime() !== period.start.getTime()) joined.push(period)
    else joined.splice(-1, 1, { start: last.start, end: period.end })
  }
  return joined
}

/** A period: all of its days, or some of them. */
export interface Stretch {
  readonly period: Period
  /** The days that alone count, or those that do not. */
  readonly days?: { readonly count: boolean; readonly starts: readonly Date[] }
}

/**
 * Writes periods as one period with some of its days, if they are in order and only whole days lie between them. Where there are
 * many periods, ClickHouse finds the rows of a list of days in far less time than those of as many periods.
 */
export function condense(periods: readonly Period[]): readonly Stretch[] {
  const [first, ...others] = periods
  const last = others.at(-1)
  if (first === undefined || last === undefined) return periods.map((period) => ({ period }))
  const gaps = others.map(({ start }, i) => ({ start: (periods[i] ?? first).end, end: start }))
  if (splitByGrain(gaps, 'day').outside.length > 0) return periods.map((period) => ({ period }))
  const inside = periods.map(({ start, end }) => ({
    start: startOfDay(start),
    end: roundUp(end, 'day'),
  }))
  const count = countDays(inside) <= countDays(gaps)
  return [
    {
      period: { start: first.start, end: last.end },
      days: { count, starts: listDays(count ? inside : gaps) },
    },
  ]
}

/** Counts the days of periods; a part of a day counts as that part. */
export const countDays = (periods: readonly Period[]): number =>
  periods.reduce((sum, { start, end }) => sum + (end.getTime() - start.getTime()) / DAY_MS, 0)

const listDays = (days: readonly Period[]): readonly Date[] =>
  days.flatMap(({ start, end }) =>
    Array.from({ length: countDays([{ start, end }]) }, (_, i) => addDays(start, i)),
  )
