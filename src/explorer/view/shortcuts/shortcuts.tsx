/** The shortcuts of the page, with the dialog that lists them and turns them off. */
import { useState } from 'preact/hooks'
import { areShortcutsOn, keepShortcutsOn, SHORTCUTS } from '../../state/shortcuts.js'
import { Dialog } from '../shared/dialog.js'
import type { Parts } from '../shared/parts.js'
import { useShortcuts } from './use-shortcuts.js'

/** The foot of the page. Speech is typed by some programs, and fingers slip: whoever wants can turn the shortcuts off. */
export function Shortcuts({
  browser,
  change,
}: Pick<Parts, 'change'> & { readonly browser: Window }) {
  const [isOn, setOn] = useState(() => areShortcutsOn(browser.localStorage))
  const [isListed, setListed] = useState(false)
  useShortcuts(browser, isOn, change, () => setListed(true))
  const turn = (on: boolean): void => {
    keepShortcutsOn(browser.localStorage, on)
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
