/** Keeps the state of the page in its address. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { openSettings } from './open-settings.js'
import { chooseStep, formatState, parseState } from '../state/address.js'
import type { Change } from '../state/changes.js'
import { recall, remember } from '../state/memory.js'
import type { ExplorerState } from '../state/state.js'

/** Changes the state, and the browser's history with it. */
export type ChangeState = (change: Change) => void

/** The address of the state by default. */
const BY_DEFAULT = 'period=30days'

/** Writes the query string of a link, which shows the same to somebody whose browser remembers something else. */
export const formatLink = (state: ExplorerState): string => formatState(state) || BY_DEFAULT

/** What the browser keeps with the entry of a dialog that was opened on the page. */
const OPENED_HERE = 'opened-here'

/** Returns the state of the address, and what changes both. An address that says nothing is as it was left last. */
export function useAddress(
  browser: Pick<
    Window,
    'location' | 'history' | 'localStorage' | 'addEventListener' | 'removeEventListener'
  >,
): readonly [ExplorerState, ChangeState] {
  const { location, history, addEventListener, removeEventListener } = browser
  const [state, setState] = useState(() => {
    const query = recall(openSettings(browser), location.search.slice(1))
    if (query !== location.search.slice(1))
      history.replaceState(history.state, '', `${location.pathname}?${query}`)
    return parseState(query)
  })
  // The browser goes back after this turn: a second Escape must not go further.
  const isGoingBack = useRef(false)
  useEffect(() => {
    const follow = (): void => {
      isGoingBack.current = false
      setState(parseState(location.search))
    }
    addEventListener('popstate', follow)
    return () => removeEventListener('popstate', follow)
  }, [])
  const change = useCallback<ChangeState>((make) => {
    const before = parseState(location.search)
    const next = make(before)
    const step = chooseStep(before, next, history.state === OPENED_HERE)
    if (step === 'stay') return
    if (step === 'back') {
      if (!isGoingBack.current) history.back()
      isGoingBack.current = true
      return
    }
    remember(openSettings(browser), before, next)
    const address = `${location.pathname}?${formatLink(next)}`
    if (step === 'replace') history.replaceState(history.state, '', address)
    else history.pushState(next.details === undefined ? null : OPENED_HERE, '', address)
    setState(next)
  }, [])
  return [state, change]
}
