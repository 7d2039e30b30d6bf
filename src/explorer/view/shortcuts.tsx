/** The shortcuts of the page, with the dialog that lists them and turns them off. */
import { openSettings } from './open-settings.js'
import { useEffect, useState } from 'preact/hooks'
import { areShortcutsOn, findShortcut, keepShortcutsOn, SHORTCUTS } from '../state/shortcuts.js'
import { Dialog } from './dialog.js'
import type { Parts } from './parts.js'
import type { ChangeState } from './use-address.js'

/** The foot of the page. Speech is typed by some programs, and fingers slip: people can turn the shortcuts off. */
export function Shortcuts({
  browser,
  change,
}: Pick<Parts, 'change'> & { readonly browser: Window }) {
  const [isOn, setOn] = useState(() => areShortcutsOn(openSettings(browser)))
  const [isListed, setListed] = useState(false)
  useShortcuts(browser, isOn, change, () => setListed(true))
  const turn = (on: boolean): void => {
    keepShortcutsOn(openSettings(browser), on)
    setOn(on)
  }
  return (
    <>
      <footer class="foot">
        <button class="control" onClick={() => setListed(true)}>
          Keyboard shortcuts
        </button>
      </footer>
      {isListed && (
        <Dialog title="Keyboard shortcuts" isSmall onClose={() => setListed(false)}>
          <label>
            <input
              type="checkbox"
              checked={isOn}
              onChange={({ currentTarget }) => turn(currentTarget.checked)}
            />{' '}
            Single keys are shortcuts
          </label>
          <table class="shortcuts">
            <tbody>
              {SHORTCUTS.map(({ key, name }) => (
                <tr key={key}>
                  <th scope="row">
                    <kbd>{key.length === 1 ? key.toUpperCase() : key}</kbd>
                  </th>
                  <td>{name}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Dialog>
      )}
    </>
  )
}

/** Where keys have a meaning of their own: what is typed into, and dialogs. */
const OWN_KEYS = 'input, textarea, select, dialog'

/** Listens to the shortcuts. @param list called if somebody asks for the list of shortcuts */
function useShortcuts(
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
