/** The panels of the page and their tabs. A new tab is a row. */
import { PROPERTY } from '../state/filters.js'

/** Tabs that show no dimension. */
export const NEW_AND_RETURNING = 'new-and-returning'
export const RETENTION = 'retention'

export interface Tab {
  /** The dimension of the API that it shows, or a view of its own. */
  readonly id: string
  readonly name: string
  /** What counts most: its rows are ordered by it. */
  readonly metric: 'users' | 'events'
}

export interface Panel {
  readonly id: string
  readonly name: string
  readonly tabs: readonly Tab[]
}

const tab = (id: string, name: string, metric: Tab['metric'] = 'users'): Tab => ({
  id,
  name,
  metric,
})

export const PANELS: readonly Panel[] = [
  {
    id: 'sources',
    name: 'Sources',
    tabs: [
      tab('channel', 'Channel'),
      tab('referrer', 'Referrer'),
      tab('referrer_type', 'Type'),
      tab('utm_source', 'UTM source'),
      tab('utm_medium', 'UTM medium'),
      tab('utm_campaign', 'UTM campaign'),
      tab('utm_content', 'UTM content'),
      tab('utm_term', 'UTM term'),
    ],
  },
  {
    id: 'pages',
    name: 'Pages',
    tabs: [
      tab('page:path', 'Path'),
      tab('page:entry', 'Entry'),
      tab('page:exit', 'Exit'),
      tab('page:origin', 'Origin'),
    ],
  },
  {
    id: 'places',
    name: 'Places',
    tabs: [
      tab('country', 'Country'),
      tab('region', 'Region'),
      tab('city', 'City'),
      tab('language', 'Language'),
    ],
  },
  {
    id: 'devices',
    name: 'Devices',
    tabs: [tab('browser', 'Browser'), tab('os', 'System'), tab('device_type', 'Type')],
  },
  { id: 'events', name: 'Events', tabs: [tab('event:name', 'Name', 'events')] },
  {
    id: 'users',
    name: 'Users',
    tabs: [tab(NEW_AND_RETURNING, 'New and returning'), tab(RETENTION, 'Retention')],
  },
]

/** The tab of a panel that is open: the one that was chosen, or the first. A property has a tab of its own. */
export function getOpenTab(panel: Panel, tabs: Readonly<Record<string, string>>): Tab {
  const id = tabs[panel.id]
  const found = panel.tabs.find((one) => one.id === id) ?? panel.tabs[0]
  if (panel.id === 'events' && id?.startsWith(PROPERTY) === true) return toPropertyTab(id)
  if (found === undefined) throw new Error(`The panel ${panel.id} has no tabs.`)
  return found
}

/** The tab of an event property. @param field such as `event:prop:plan` */
export const toPropertyTab = (field: string): Tab =>
  tab(field, field.slice(PROPERTY.length), 'events')

/** Finds a tab by its id, also that of a property. */
export const findTab = (id: string): Tab | undefined =>
  id.startsWith(PROPERTY)
    ? toPropertyTab(id)
    : PANELS.flatMap(({ tabs }) => tabs).find((one) => one.id === id)

/** The names of the panel and the tab of a field, such as `Places: Country`. A property is one of the events. */
export function nameTab(id: string): string {
  const panel = PANELS.find(({ tabs }) => tabs.some((one) => one.id === id))
  return `${panel?.name ?? 'Events'}: ${findTab(id)?.name ?? id}`
}
