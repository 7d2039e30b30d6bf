/** The shortcuts of the page: single keys, as people know them from other services, and whether they are on. */
import { set, toggleComparison, type Change } from './changes.js'
import { PRESET_NAMES } from './periods.js'
import { LIVE, type Preset } from './state.js'

/** What a shortcut does: it changes the state, goes to a field of the page by its name, or opens the list of shortcuts. */
type ShortcutAction =
  | { readonly kind: 'change'; readonly change: Change }
  | { readonly kind: 'focus'; readonly field: string }
  | { readonly kind: 'list' }

interface Shortcut {
  /** The key as browsers name it; letters are lower-case. */
  readonly key: string
  readonly name: string
  readonly action: ShortcutAction
}

const PERIOD_KEYS: readonly (readonly [key: string, preset: Preset | typeof LIVE])[] = [
  ['r', LIVE],
  ['h', '24hrs'],
  ['d', 'today'],
  ['e', 'yesterday'],
  ['w', '7days'],
  ['t', '30days'],
  ['n', '90days'],
  ['m', 'mtd'],
  ['y', 'ytd'],
  ['l', '12months'],
  ['a', 'all'],
]

export const SHORTCUTS: readonly Shortcut[] = [
  ...PERIOD_KEYS.map(([key, preset]) => ({
    key,
    name: PRESET_NAMES[preset],
    action: { kind: 'change', change: set({ period: preset }) } as const,
  })),
  { key: 'c', name: 'Choose dates', action: { kind: 'focus', field: 'from' } },
  {
    key: 'x',
    name: 'Comparison on or off',
    action: { kind: 'change', change: toggleComparison },
  },
  { key: 'f', name: 'Add a filter', action: { kind: 'focus', field: 'filter-value' } },
  { key: '/', name: 'Search and filter', action: { kind: 'focus', field: 'search' } },
  { key: '?', name: 'List the shortcuts', action: { kind: 'list' } },
]

/** A key that is pressed: the parts of the event of the browser that decide. */
export interface Press {
  readonly key: string
  readonly ctrlKey: boolean
  readonly metaKey: boolean
  readonly altKey: boolean
  readonly shiftKey: boolean
  readonly repeat: boolean
  readonly defaultPrevented: boolean
}

/** Finds the shortcut of a key. With a modifier a key is one of the browser; signs may need Shift. */
export function findShortcut(press: Press): Shortcut | undefined {
  const { ctrlKey, metaKey, altKey, shiftKey, repeat, defaultPrevented } = press
  if (ctrlKey || metaKey || altKey || repeat || defaultPrevented) return undefined
  const key = press.key.length === 1 ? press.key.toLowerCase() : press.key
  const isSign = key === '/' || key === '?'
  return shiftKey && !isSign ? undefined : SHORTCUTS.find((one) => one.key === key)
}

/** The storage of the browser, which all pages of the service share. */
export interface SettingStorage {
  readonly getItem: (name: string) => string | null
  readonly setItem: (name: string, value: string) => void
  readonly removeItem: (name: string) => void
}

const STORED = 'tallyhouse-shortcuts'

/** Whether shortcuts are on. */
export const areShortcutsOn = (storage: SettingStorage): boolean =>
  storage.getItem(STORED) !== 'off'

/** Keeps whether shortcuts are on. Nothing is kept while they are. */
export function keepShortcutsOn(storage: SettingStorage, isOn: boolean): void {
  if (isOn) storage.removeItem(STORED)
  else storage.setItem(STORED, 'off')
}
