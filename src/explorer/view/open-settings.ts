/** What the browser remembers of the page. */
import type { SettingStorage } from '../state/shortcuts.js'

const NOTHING: SettingStorage = {
  getItem: () => null,
  setItem: () => undefined,
  removeItem: () => undefined,
}

/** Opens it. A browser may refuse that to a page that another site shows in a frame: then it remembers nothing. */
export function openSettings(browser: { readonly localStorage: SettingStorage }): SettingStorage {
  try {
    return browser.localStorage
  } catch {
    return NOTHING
  }
}
