/** The panels of the page and their tabs. A new tab is a row. */
import type { Dimension } from '../../contract/api.js'
import { PROPERTY_PREFIX } from '../../contract/filter-fields.js'

/** Tabs that show no dimension. */
export const NEW_AND_RETURNING = 'new-and-returning'
export const RETENTION = 'retention'

export interface Tab {
  /** The dimension of the API that it shows, or a view of its own. */
  readonly id: string
  readonly name: string
  /** What counts most: its rows are ordered by it. */
  readonly metric: 'users' | 'events'
  /** The name of the choice that it is a part of, with others; undefined if it stands by itself. */
  readonly group?: string | undefined
}

export interface Panel {
  readonly id: string
  readonly name: string
  readonly tabs: readonly Tab[]
}

/** The panels by their ids. */
const PANEL_NAMES = {
  sources: 'Sources',
  pages: 'Pages',
  places: 'Places',
  devices: 'Devices',
  events: 'Events',
  users: 'Users',
} as const

interface TabRow {
  readonly panel: keyof typeof PANEL_NAMES
  readonly name: string
  /** Users if absent. */
  readonly metric?: Tab['metric']
  readonly group?: string
}

/** What links of campaigns carry. */
const CAMPAIGN = { panel: 'sources', group: 'Campaign' } as const

/** The tabs, in the order of their panels. Every dimension of the API has one. */
const TABS: Readonly<Record<Dimension | typeof NEW_AND_RETURNING | typeof RETENTION, TabRow>> = {
  channel: { panel: 'sources', name: 'Channel' },
  referrer: { panel: 'sources', name: 'Referrer' },
  referrer_type: { panel: 'sources', name: 'Type' },
  utm_campaign: { ...CAMPAIGN, name: 'UTM campaign' },
  utm_source: { ...CAMPAIGN, name: 'UTM source' },
  utm_medium: { ...CAMPAIGN, name: 'UTM medium' },
  utm_content: { ...CAMPAIGN, name: 'UTM content' },
  utm_term: { ...CAMPAIGN, name: 'UTM term' },
  'page:path': { panel: 'pages', name: 'Path' },
  'page:entry': { panel: 'pages', name: 'Entry' },
  'page:exit': { panel: 'pages', name: 'Exit' },
  'page:origin': { panel: 'pages', name: 'Origin' },
  country: { panel: 'places', name: 'Country' },
  region: { panel: 'places', name: 'Region' },
  city: { panel: 'places', name: 'City' },
  language: { panel: 'places', name: 'Language' },
  browser: { panel: 'devices', name: 'Browser' },
  os: { panel: 'devices', name: 'System' },
  device_type: { panel: 'devices', name: 'Device type' },
  'event:name': { panel: 'events', name: 'Event', metric: 'events' },
  [NEW_AND_RETURNING]: { panel: 'users', name: 'New and returning' },
  [RETENTION]: { panel: 'users', name: 'Retention' },
}

const tab = (id: string, name: string, metric: Tab['metric'] = 'users', group?: string): Tab => ({
  id,
  name,
  metric,
  group,
})

export const PANELS: readonly Panel[] = Object.entries(PANEL_NAMES).map(([id, name]) => ({
  id,
  name,
  tabs: Object.entries(TABS)
    .filter(([, row]) => row.panel === id)
    .map(([dimension, row]) => tab(dimension, row.name, row.metric, row.group)),
}))

/** The tab of a panel that is open: the one that was chosen, or the first. Each property has a tab. */
export function getOpenTab(panel: Panel, tabs: Readonly<Record<string, string>>): Tab {
  const id = tabs[panel.id]
  const found = panel.tabs.find((one) => one.id === id) ?? panel.tabs[0]
  if (panel.id === 'events' && id?.startsWith(PROPERTY_PREFIX) === true) return toPropertyTab(id)
  if (found === undefined) throw new Error(`The panel ${panel.id} has no tabs.`)
  return found
}

/** The tab of an event property. @param field such as `event:prop:plan` */
export const toPropertyTab = (field: string): Tab =>
  tab(field, field.slice(PROPERTY_PREFIX.length), 'events', 'Property')

/** Finds a tab by its id, also that of a property. */
export const findTab = (id: string): Tab | undefined =>
  id.startsWith(PROPERTY_PREFIX)
    ? toPropertyTab(id)
    : PANELS.flatMap(({ tabs }) => tabs).find((one) => one.id === id)

/** The names of the panel and the tab of a field, such as `Places: Country`. A property is one of the events. */
export function nameTab(id: string): string {
  const panel = PANELS.find(({ tabs }) => tabs.some((one) => one.id === id))
  return `${panel?.name ?? 'Events'}: ${findTab(id)?.name ?? id}`
}

/** Finds what a panel shows after a filter on the open tab: its next tab, if that is no part of a choice. Events may have several names. */
export function findNextTab(id: string): { readonly panel: string; readonly next?: string } {
  const panel = PANELS.find(({ tabs }) => tabs.some((one) => one.id === id))
  const index = panel?.tabs.findIndex((one) => one.id === id) ?? -1
  const next = panel?.tabs[index + 1]
  return panel === undefined || next === undefined || next.group !== undefined
    ? { panel: '' }
    : { panel: panel.id, next: next.id }
}
