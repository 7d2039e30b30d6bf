/** Whether shortcuts are on, which the browser keeps for all pages of the service. Nothing is kept while they are. */

/** The storage of the browser. */
export interface SettingStorage {
  readonly getItem: (name: string) => string | null
  readonly setItem: (name: string, value: string) => void
  readonly removeItem: (name: string) => void
}

const STORED = 'tallyhouse-shortcuts'

export const areShortcutsOn = (storage: SettingStorage): boolean =>
  storage.getItem(STORED) !== 'off'

export function keepShortcutsOn(storage: SettingStorage, isOn: boolean): void {
  if (isOn) storage.removeItem(STORED)
  else storage.setItem(STORED, 'off')
}
