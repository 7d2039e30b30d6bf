/** The state that can be asked about at the moment. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import { countLastDays, dateIn, resolvePeriod } from '../state/periods.js'
import { LIVE, type AskedState, type ExplorerState, type ShownInterval } from '../state/state.js'
import { repeatWhileVisible } from './use-responses.js'

/**
 * The state that the queries are built from. Its interval fits the period, and a live period is replaced by the one that it is now.
 *
 * @param zone the time zone of the page
 */
export function useAskedState(
  state: ExplorerState,
  interval: ShownInterval,
  zone: string,
  browser: Window,
  now: () => Date,
): AskedState {
  const moment = useMoment(browser, now, state.period === LIVE)
  // Of now, since a page may stay open over midnight.
  const lastDays = countLastDays(state.period, dateIn(zone, now()))
  return useMemo(
    () => ({ ...state, interval, period: resolvePeriod(state.period, moment), lastDays }),
    [state, interval, lastDays, state.period === LIVE ? moment : undefined],
  )
}

const LIVE_MS = 10_000

/** The moment that the page is about; it moves on while somebody looks at a live period. */
function useMoment(browser: Window, now: () => Date, isLive: boolean): Date {
  const begun = useMemo(now, [isLive])
  const [moment, setMoment] = useState(begun)
  useEffect(
    () => (isLive ? repeatWhileVisible(browser, LIVE_MS, () => setMoment(now())) : undefined),
    [isLive],
  )
  return moment > begun ? moment : begun
}
