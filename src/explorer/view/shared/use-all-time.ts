/** Learns from answers when all time starts and ends, on which the intervals of the chart depend. */
import { useEffect } from 'preact/hooks'
import type { Question } from '../../client/contract.js'
import type { AllTime } from '../../state/intervals.js'
import { findShown, type Parts } from './parts.js'

/** @param totals the question about the whole period; @param remember called with its period if that is all time */
export function useAllTime(
  { state, answers }: Pick<Parts, 'state' | 'answers'>,
  totals: Question | undefined,
  remember: (allTime: AllTime) => void,
): void {
  const shown = findShown({ answers }, totals)
  // Other answers may still be on their way, and questions that change now would ask for them again.
  const isThere =
    state.period === 'all' && shown.kind === 'ready' && !shown.isOld && !answers.isAsking
  const period = isThere ? shown.body.period : undefined
  useEffect(() => {
    if (period !== undefined) remember(period)
  }, [period])
}
