/** The state of the page as its address: the query string, and the steps of the browser's history. */
import { DEFINITION_NAME } from '../../contract/management-api.js'
import { closeDetails } from './changes.js'
import { FILTER_OPERATORS, isFilter, type FieldFilter } from './filters.js'
import {
  COHORTS,
  COMPARISONS,
  DEFAULT_STATE,
  DETAILS_VIEWS,
  INTERVALS,
  listCardMetrics,
  LIVE,
  PRESETS,
  type Details,
  type ExplorerState,
  JOURNEY_DIRECTIONS,
  JOURNEY_STEPS,
  type Funnel,
  type Journeys,
  type Range,
  type ShownPeriod,
} from './state.js'

/** Formats a state, such as `period=7days&filters=[["country","is","DE"]]` (encoded). What is as by default is left out. */
export function formatState(state: ExplorerState): string {
  const {
    period,
    zone,
    comparison,
    interval,
    metric,
    goal,
    filters,
    join,
    tabs,
    cohort,
    details,
    funnel,
    journeys,
  } = state
  const params = new URLSearchParams()
  const set = (name: string, value: string, byDefault: string): void => {
    if (value !== byDefault) params.set(name, value)
  }
  set('period', formatPeriod(period), formatPeriod(DEFAULT_STATE.period))
  if (zone !== undefined) params.set('zone', zone)
  set('compare', formatPeriod(comparison), formatPeriod(DEFAULT_STATE.comparison))
  set('interval', interval, DEFAULT_STATE.interval)
  set('metric', metric, DEFAULT_STATE.metric)
  if (goal !== undefined) params.set('goal', goal)
  set('filters', JSON.stringify(filters.map(flatten)), '[]')
  set('join', join, DEFAULT_STATE.join)
  const opened = Object.entries(tabs).sort(([a], [b]) => (a < b ? -1 : 1))
  set('tabs', JSON.stringify(opened.flat()), '[]')
  set('cohort', cohort, DEFAULT_STATE.cohort)
  if (details !== undefined) {
    const { tab, view, search, orderBy, direction, page } = details
    const others = view === 'value' ? [] : [view]
    params.set('details', JSON.stringify([tab, search, orderBy, direction, page, ...others]))
  }
  if (funnel !== undefined) {
    params.set('funnel', JSON.stringify([funnel.within, ...funnel.steps.map(flatten)]))
  }
  if (journeys !== undefined) {
    const { direction, steps, anchor } = journeys
    params.set('journeys', JSON.stringify([direction, steps, ...flatten(anchor)]))
  }
  return params.toString()
}

const flatten = ({ field, operator, values }: FieldFilter): readonly string[] => [
  field,
  operator,
  ...values,
]

/** Reads a state. Whatever is missing or not understood is as by default: a link never fails. */
export function parseState(query: string): ExplorerState {
  const params = new URLSearchParams(query)
  const choose = <const Name extends string>(
    name: string,
    names: readonly Name[],
    byDefault: NoInfer<Name>,
  ): Name => names.find((one) => one === params.get(name)) ?? byDefault
  const goal = parseName(params.get('goal'))
  return {
    period: parsePeriod(params.get('period')),
    zone: parseZone(params.get('zone')),
    comparison:
      parseRange(params.get('compare')) ?? choose('compare', COMPARISONS, 'previous_period'),
    interval: choose('interval', INTERVALS, DEFAULT_STATE.interval),
    metric: choose('metric', listCardMetrics({ goal, hasValue: true }), DEFAULT_STATE.metric),
    goal,
    filters: parseList(params.get('filters')).flatMap(parseFilter).slice(0, MAX_FILTERS),
    join: choose('join', ['and', 'or'], DEFAULT_STATE.join),
    tabs: parseTabs(parseList(params.get('tabs'))),
    cohort: choose('cohort', COHORTS, DEFAULT_STATE.cohort),
    ...parseDetails(parseList(params.get('details'))),
    ...parseFunnel(parseList(params.get('funnel'))),
    ...parseJourneys(parseList(params.get('journeys'))),
  }
}

/** The API takes 20 filters, and a filter of several texts is a group of that many. */
const MAX_FILTERS = 10

const formatPeriod = (period: string | Range): string =>
  typeof period === 'string' ? period : `${period.from}..${period.to}`

const MOMENT = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}Z)?$/

const parsePeriod = (text: string | null): ShownPeriod =>
  ([LIVE, ...PRESETS] as const).find((one) => one === text) ??
  parseRange(text) ??
  DEFAULT_STATE.period

function parseRange(text: string | null): Range | undefined {
  const [from = '', to = '', ...others] = (text ?? '').split('..')
  const isRange =
    others.length === 0 && [from, to].every(isMoment) && from.slice(0, 10) <= to.slice(0, 10)
  return isRange ? { from, to } : undefined
}

/** Whether a text is a date or a second that exists in the calendar. */
function isMoment(text: string): boolean {
  if (!MOMENT.test(text)) return false
  const date = new Date(text)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text.slice(0, 10))
}

function parseZone(text: string | null): string | undefined {
  if (text === null) return DEFAULT_STATE.zone
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone
  } catch {
    return DEFAULT_STATE.zone
  }
}

/** The name of a goal; undefined if it cannot be one. */
const parseName = (text: string | null): string | undefined =>
  text !== null && DEFINITION_NAME.test(text) ? text : undefined

function parseList(text: string | null): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text ?? '[]')
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}

const isText = (value: unknown): value is string => typeof value === 'string'

function parseFilter(value: unknown): readonly FieldFilter[] {
  if (!Array.isArray(value) || !value.every(isText)) return []
  const [field = '', name, ...values] = value
  const operator = FILTER_OPERATORS.find((one) => one === name)
  return operator !== undefined && isFilter({ field, operator, values })
    ? [{ field, operator, values }]
    : []
}

function parseTabs(flat: readonly unknown[]): Readonly<Record<string, string>> {
  const texts = flat.filter(isText)
  return Object.fromEntries(
    texts.flatMap((panel, i) => (i % 2 === 0 ? [[panel, texts[i + 1] ?? '']] : [])),
  )
}

function parseDetails([tab, search, orderBy, direction, page, shown]: readonly unknown[]): {
  readonly details?: Details
} {
  const view = DETAILS_VIEWS.find((one) => one === shown) ?? 'value'
  if (!isText(tab) || !isText(search) || !isText(orderBy)) return {}
  if (direction !== 'asc' && direction !== 'desc') return {}
  if (typeof page !== 'number' || !Number.isInteger(page) || page < 0) return {}
  return { details: { tab, view, search, orderBy, direction, page } }
}

function parseFunnel([within, ...steps]: readonly unknown[]): { readonly funnel?: Funnel } {
  const isWindow =
    within === 'visit' ||
    (typeof within === 'number' && Number.isInteger(within) && within > 0 && within < 366)
  return isWindow
    ? { funnel: { within, steps: steps.flatMap(parseFilter).slice(0, MAX_FILTERS) } }
    : {}
}

function parseJourneys([first, second, ...filter]: readonly unknown[]): {
  readonly journeys?: Journeys
} {
  const direction = JOURNEY_DIRECTIONS.find((one) => one === first)
  const steps = JOURNEY_STEPS.find((one) => one === second)
  const [anchor] = parseFilter(filter)
  return direction === undefined || steps === undefined || anchor === undefined
    ? {}
    : { journeys: { anchor, direction, steps } }
}

/**
 * What a change is to the history: nothing, a new entry, the last entry with another state, or the way back to the entry
 * before it.
 */
export type Step = 'stay' | 'push' | 'replace' | 'back'

/**
 * Chooses the step of a change. An open dialog is one entry, whatever is done in it, and closing it goes back: a further step
 * back never opens it again.
 *
 * @param wasOpenedHere whether the entry before the dialog is the page without it, rather than where a link to the dialog stood
 */
export function chooseStep(
  before: ExplorerState,
  next: ExplorerState,
  wasOpenedHere: boolean,
): Step {
  if (formatState(before) === formatState(next)) return 'stay'
  const isInDialog =
    before.details !== undefined &&
    formatState(closeDetails(before)) === formatState(closeDetails(next))
  if (!isInDialog) return 'push'
  return next.details === undefined && wasOpenedHere ? 'back' : 'replace'
}
