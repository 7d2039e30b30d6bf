/** Keeps the state of the page in its address. */
import { useCallback, useEffect, useState } from 'preact/hooks'
import type { Change } from '../../state/changes.js'
import type { ExplorerState } from '../../state/state.js'
import { formatState, parseState } from '../../state/url.js'

/** Changes the state. Each change is a step of the browser's history, unless it replaces the last one or changes nothing. */
export type ChangeState = (change: Change, options?: { readonly replace?: boolean }) => void

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
  useEffect(() => {
    const follow = (): void => setState(parseState(location.search))
    addEventListener('popstate', follow)
    return () => removeEventListener('popstate', follow)
  }, [])
  const change = useCallback<ChangeState>((make, { replace = false } = {}) => {
    const next = make(parseState(location.search))
    const query = formatState(next)
    const address = location.pathname + (query === '' ? '' : `?${query}`)
    if (address === location.pathname + location.search) return
    if (replace) history.replaceState(null, '', address)
    else history.pushState(null, '', address)
    setState(next)
  }, [])
  return [state, change]
}
