/** Says which projects keep data longer than they should by the clock, and why: once in the log, and in numbers. */
import { getSkew, type Clocks } from '../clickhouse/clocks.js'
import type { Logger } from '../lib/log.js'
import { formatDay, formatDuration } from '../lib/time.js'
import type { CutoffHold } from './cutoff.js'

/** A project with data that should be deleted by the clock and is kept. */
export type HeldProject =
  | { readonly projectId: string; readonly hold: 'clocks' }
  | {
      readonly projectId: string
      readonly hold: CutoffHold
      readonly keepDays: number
      readonly keptFrom: Date
      /** The first day that the project is to keep by the clock alone. */
      readonly due: Date
    }

/** The number of projects that each reason holds. */
export type HoldCounts = Readonly<Record<HeldProject['hold'], number>>

/** Why data is kept longer than the clock says, to follow the word because. */
export const HOLD_REASONS: Readonly<Record<CutoffHold, string>> = {
  pace: 'the first kept day moves by two days a day at most',
  newest_event: 'no later event has arrived',
}

/** Returns a function that logs why projects are held, once until the reason ends, and counts them. */
export function createHoldReporter(
  logger: Logger,
): (held: readonly HeldProject[], clocks: Clocks) => HoldCounts {
  let known = new Map<string, HeldProject['hold']>()
  return (held, clocks) => {
    const areClocksNew = [...known.values()].every((hold) => hold !== 'clocks')
    if (areClocksNew && held.some(({ hold }) => hold === 'clocks')) {
      logger.error(
        { projects: held.length, difference: formatDuration(Math.abs(getSkew(clocks))) },
        'the clocks of this host and the store differ by more than a minute, so no data is deleted that projects keep no longer: synchronize them, with NTP for instance',
      )
    }
    for (const project of held) {
      if (known.get(project.projectId) !== project.hold) logHold(logger, project)
    }
    known = new Map(held.map(({ projectId, hold }) => [projectId, hold]))
    return countHolds(held)
  }
}

function logHold(logger: Logger, project: HeldProject): void {
  if (project.hold === 'clocks') return
  const { projectId, hold, keepDays, keptFrom, due } = project
  logger.warn(
    { projectId, reason: hold, keptFrom: formatDay(keptFrom), due: formatDay(due) },
    `the project keeps data longer than ${keepDays} days, because ${HOLD_REASONS[hold]}; if the clock is right, "tallyhouse project update ${projectId} --keep-days ${keepDays} --force" deletes it now`,
  )
}

function countHolds(held: readonly HeldProject[]): HoldCounts {
  const count = (reason: HeldProject['hold']): number =>
    held.filter(({ hold }) => hold === reason).length
  return { clocks: count('clocks'), pace: count('pace'), newest_event: count('newest_event') }
}
