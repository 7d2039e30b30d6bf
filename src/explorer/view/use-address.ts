/** Keeps the state of the page in its address. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { chooseStep, formatState, parseState } from '../state/address.js'
import type { Change } from '../state/changes.js'
import type { ExplorerState } from '../state/state.js'

/** Changes the state, and the browser's history with it. */
export type ChangeState = (change: Change) => void

/** What the browser keeps with the entry of a dialog that was opened on the page. */
const OPENED_HERE = 'opened-here'

/** Returns the state of the address, and what changes both. */
export function useAddress({
  location,
  history,
  addEventListener,
  removeEventListener,
}: Pick<Window, 'location' | 'history' | 'addEventListener' | 'removeEventListener'>): readonly [
  ExplorerState,
  ChangeState,
] {
  const [state, setState] = useState(() => parseState(location.search))
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
    const query = formatState(next)
    const address = location.pathname + (query === '' ? '' : `?${query}`)
    if (step === 'replace') history.replaceState(history.state, '', address)
    else history.pushState(next.details === undefined ? null : OPENED_HERE, '', address)
    setState(next)
  }, [])
  return [state, change]
}
