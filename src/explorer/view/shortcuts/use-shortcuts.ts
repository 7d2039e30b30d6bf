/** Listens to the shortcuts. */
import { useEffect } from 'preact/hooks'
import { findShortcut } from '../../state/shortcuts.js'
import type { ChangeState } from '../shared/use-address.js'

/** Where keys have a meaning of their own: what is typed into, and dialogs. */
const OWN_KEYS = 'input, textarea, select, dialog'

/** @param list called if somebody asks for the list of shortcuts */
export function useShortcuts(
  { document }: Window,
  isOn: boolean,
  change: ChangeState,
  list: () => void,
): void {
  useEffect(() => {
    if (!isOn) return
    const follow = (event: KeyboardEvent): void => {
      if (event.target instanceof Element && event.target.closest(OWN_KEYS) !== null) return
      // The focus may lie outside of a dialog that is open.
      if (document.querySelector('dialog') !== null) return
      const action = findShortcut(event)?.action
      if (action === undefined) return
      event.preventDefault()
      if (action.kind === 'change') change(action.change)
      else if (action.kind === 'list') list()
      else focus(document, action.field)
    }
    document.addEventListener('keydown', follow)
    return () => document.removeEventListener('keydown', follow)
  }, [isOn])
}

/** Goes to a field, and opens the menu that it lies in. */
function focus(document: Document, name: string): void {
  const field = document.querySelector<HTMLInputElement>(`input[name="${name}"]`)
  field?.closest('details')?.setAttribute('open', '')
  field?.focus()
}
