/**
 * Decides the first day that a project keeps. Deleting is final and clocks can be wrong, so the day follows the clock no faster
 * than two days a day, and no further than events have arrived.
 */
import { addDays, DAY_MS, startOfDay } from '../lib/time.js'

/** A first kept day, as it was recorded. */
export interface RecordedCutoff {
  readonly keptFrom: Date
  /** How many days the project kept then. */
  readonly keepDays: number
  readonly recordedAt: Date
}

/**
 * Why data is kept longer than the clock says. `pace`: the first kept day would move too far at once; `newest_event`: no
 * event has arrived by which the time has passed.
 */
export type CutoffHold = 'pace' | 'newest_event'

interface Cutoff {
  /** The first day that is kept. */
  readonly keptFrom: Date
  /** The first day that the project is to keep by the clock alone. */
  readonly due: Date
  /** Why the two differ by more than a day; undefined if they do not. One day may pass before the next event arrives. */
  readonly hold: CutoffHold | undefined
}

export interface CutoffFacts {
  readonly now: Date
  /** How many days before the current one are kept. */
  readonly keepDays: number
  /** The time of the newest event that was received. */
  readonly newest: Date
  /** Undefined for the first expiration since the project keeps data for a time. */
  readonly last: RecordedCutoff | undefined
}

/** How far the first kept day moves in a day, and at once: only a clock says that more than a day has passed. */
const MAX_DAYS = 2

/** The first expiration is limited by the newest event only: the operator who set the days chose what goes. */
export function decideCutoff({ now, keepDays, newest, last }: CutoffFacts): Cutoff {
  const due = getFirstKeptDay(now, keepDays)
  const byEvents = getFirstKeptDay(newest < now ? newest : now, keepDays)
  const byPace = last === undefined ? due : addDays(reachBack(last, keepDays), countDays(last, now))
  const keptFrom = byPace < byEvents ? byPace : byEvents
  const isHeld = keptFrom < addDays(due, -1)
  return {
    keptFrom,
    due,
    hold: isHeld ? (byPace < byEvents ? 'pace' : 'newest_event') : undefined,
  }
}

/** Returns the first kept day by a clock alone. */
export const getFirstKeptDay = (now: Date, keepDays: number): Date =>
  addDays(startOfDay(now), -keepDays)

/** Returns what is to be recorded of a decision; undefined if the recorded cutoff stands. */
export function updateRecord(
  { now, keepDays, last }: Omit<CutoffFacts, 'newest'>,
  { keptFrom }: Pick<Cutoff, 'keptFrom'>,
): RecordedCutoff | undefined {
  if (last === undefined) return { keptFrom, keepDays, recordedAt: now }
  const reached = reachBack(last, keepDays)
  // A clock that was ahead must not stop the expirations until that time has come.
  const isChanged = keptFrom > reached || keepDays !== last.keepDays || last.recordedAt > now
  if (!isChanged) return undefined
  return { keptFrom: keptFrom > reached ? keptFrom : reached, keepDays, recordedAt: now }
}

/** The day from which the first kept day moves on. A project that is to keep more days than before keeps them at once. */
const reachBack = ({ keptFrom, keepDays }: RecordedCutoff, days: number): Date =>
  addDays(keptFrom, Math.min(keepDays - days, 0))

/** Returns by how many days the first kept day may move. */
function countDays({ recordedAt }: RecordedCutoff, now: Date): number {
  const days = ((now.getTime() - recordedAt.getTime()) / DAY_MS) * MAX_DAYS
  return Math.min(Math.max(Math.floor(days), 0), MAX_DAYS)
}
