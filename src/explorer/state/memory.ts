/** What the browser remembers of the last visit, for an address that says nothing: the preset and the time zone that were chosen. */
import { formatState } from './address.js'
import type { SettingStorage } from './shortcuts.js'
import { DEFAULT_STATE, LIVE, type ExplorerState } from './state.js'

const STORED = 'tallyhouse-view'

/** The query string to begin with. @param query that of the address, without its question mark */
export const recall = (storage: SettingStorage, query: string): string =>
  query === '' ? (storage.getItem(STORED) ?? '') : query

/** Keeps what was chosen, if that is another preset or time zone. Dates of one's own are for once. */
export function remember(
  storage: SettingStorage,
  before: ExplorerState,
  { period, zone }: ExplorerState,
): void {
  if (period === before.period && zone === before.zone) return
  const isPreset = typeof period === 'string' && period !== LIVE
  const kept = formatState({
    ...DEFAULT_STATE,
    period: isPreset ? period : DEFAULT_STATE.period,
    zone,
  })
  if (kept !== '') storage.setItem(STORED, kept)
  else if (isPreset) storage.removeItem(STORED)
}
