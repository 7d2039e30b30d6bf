/** Whether the conversions of the goal have a value that the page can show. */
import { useLayoutEffect, useMemo, useState } from 'preact/hooks'
import type { Query } from '../client/contract.js'
import type { ExplorerState } from '../state/state.js'
import { hasCurrencies } from './currencies.js'
import type { Parts } from './parts.js'

/** Adds to the state of the address what is known of its goal. @returns the state, and what remembers the goal with a value */
export function useValuedGoal(
  inAddress: ExplorerState,
): readonly [ExplorerState, (goal: string | undefined) => void] {
  const [valued, remember] = useState<string>()
  const hasValue = valued !== undefined && valued === inAddress.goal
  return [useMemo(() => ({ ...inAddress, hasValue }), [inAddress, hasValue]), remember]
}

/**
 * Learns from the response to a query for the value alone whether there is one. It is known until another response says otherwise.
 *
 * @param remember called with the goal if it has a value
 * @returns whether the amounts are in several currencies, which nothing adds up
 */
export function useGoalValue(
  { state: { goal }, responses }: Pick<Parts, 'state' | 'responses'>,
  query: Query | undefined,
  remember: (goal: string | undefined) => void,
): boolean {
  const found = query && responses.get(query)
  const { status } = found?.answered.result ?? {}
  // Other responses may still be on their way, and queries that change now would ask for them again.
  const isThere = found?.isOld === false && !responses.isAsking
  // Before the page is drawn: it never looks finished without the numbers that follow.
  useLayoutEffect(() => {
    if (isThere && status === 200) remember(goal)
    if (isThere && status === 400) remember(undefined)
  }, [isThere, status, goal])
  return hasCurrencies({ responses }, query)
}
