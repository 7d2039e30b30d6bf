/** A reference implementation of the metrics over a list of events: no store, no SQL, no code of the service. */
import { RE2JS } from 're2js'
import type {
  AnalyticsQueryRequest,
  Filter,
  ListClause,
  Metric,
  Row,
  StringClause,
  ValuesRequest,
  ValuesResponse,
} from '../../../src/contract/api.js'
import { SESSION_ATTRIBUTES } from './attributes.js'
import type { SentEvent } from './world.js'

export interface Event {
  readonly at: number
  /** Empty until it is derived. */
  user: string
  /** The address and the user agent. */
  readonly sender: readonly string[]
  readonly sessionId: string
  readonly name: string
  readonly anonymous: boolean
  readonly page: Readonly<Record<'origin' | 'path' | 'hash', string>>
  readonly properties: ReadonlyMap<string, string>
  readonly attributes: Readonly<Record<string, string>>
  session?: Session
}

interface Session {
  readonly events: Event[]
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

const SEARCH_SOURCES = ['google', 'adwords', 'bing.com', 'bing-ads']
const SOCIAL_SOURCES = ['facebook', 'facebook-ads', 't.co']
const CHANNELS_OF_TYPES: Readonly<Record<string, string>> = {
  direct: 'Direct',
  search: 'Organic Search',
  social: 'Organic Social',
  email: 'Email',
  llm: 'AI Assistants',
}

/** Finds the channel, of the sources that random events have. */
function findChannel(attributes: Readonly<Record<string, string>>): string {
  const read = (name: string): string => attributes[name]!.trim().toLowerCase()
  const [type, medium] = [attributes['referrer_type']!, read('utm_medium')]
  const source = read(attributes['utm_source'] === '' ? 'referrer' : 'utm_source')
  if (type === 'paid') {
    if (SEARCH_SOURCES.includes(source)) return 'Paid Search'
    if (SOCIAL_SOURCES.includes(source) || medium.includes('social')) return 'Paid Social'
    if (medium.includes('search') || medium === 'sem') return 'Paid Search'
  }
  if (type === 'unknown') {
    if (['referral', 'referrer', 'link'].includes(medium)) return 'Referral'
    if (medium === '' && read('referrer') !== '') return 'Referral'
  }
  return CHANNELS_OF_TYPES[type] ?? 'Other'
}

function parseEvent(sent: SentEvent): Event {
  const attributes = Object.fromEntries(SESSION_ATTRIBUTES.map((name) => [name, text(sent[name])]))
  const hinted = ['referrer', 'utm_source', 'utm_medium', 'utm_campaign', 'utm_content', 'utm_term']
  attributes['referrer_type'] ||= hinted.some((name) => attributes[name] !== '')
    ? 'unknown'
    : 'direct'
  attributes['channel'] = findChannel(attributes)
  return {
    at: Date.parse(sent.timestamp),
    user: text(sent['user_id']),
    sender: [text(sent['ip']), text(sent['user_agent'])],
    sessionId: text(sent['session_id']),
    name: text(sent['name']) || 'pageview',
    anonymous: sent['anonymous'] === true,
    page: { origin: text(sent['origin']), path: text(sent['path']), hash: text(sent['hash']) },
    properties: new Map(
      Object.entries((sent['properties'] ?? {}) as Record<string, unknown>).map(([key, value]) => [
        key,
        typeof value === 'string' ? value : JSON.stringify(value),
      ]),
    ),
    attributes,
  }
}

const dayOf = ({ at }: Event): number => Math.floor(at / 86_400_000)

/**
 * Names the users of events without a user id, which are in order of time: by their sender and a day. While a visit goes on, that
 * is the day of the event before, if it was today or yesterday; else it is today.
 */
function deriveUsers(events: readonly Event[]): void {
  const last = new Map<string, { readonly event: Event; readonly day: number }>()
  for (const event of events.filter(({ user }) => user === '')) {
    const key = JSON.stringify([event.sender, event.sessionId])
    const before = last.get(key)
    const continues =
      before !== undefined &&
      (event.sessionId === ''
        ? event.at - before.event.at <= 1_800_000
        : dayOf(event) - dayOf(before.event) <= 1)
    const today = dayOf(event)
    const day = continues && today - before.day <= 1 ? before.day : today
    last.set(key, { event, day })
    event.user = JSON.stringify([event.sender, day])
  }
}

/** Returns the events without duplicates, by time, each with its session. `sent` is in order of arrival. */
export function assignSessions(sent: readonly SentEvent[]): readonly Event[] {
  const seen = new Set<string>()
  const events = sent
    .filter((event) => {
      const id = text(event['event_id'])
      if (id === '') return true
      if (seen.has(id)) return false
      seen.add(id)
      return true
    })
    .map(parseEvent)
    .map((event, order) => ({ event, order }))
    .sort((a, b) => a.event.at - b.event.at || a.order - b.order)
    .map(({ event }) => event)
  deriveUsers(events)
  const last = new Map<string, Event>()
  for (const event of events) {
    const key = JSON.stringify([event.user, event.sessionId])
    const before = last.get(key)
    const continuesSession =
      before !== undefined && (event.sessionId !== '' || event.at - before.at <= 1_800_000)
    event.session = continuesSession ? before.session! : { events: [] }
    event.session.events.push(event)
    last.set(key, event)
  }
  return events
}

const escape = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
const matchesPattern = (pattern: string, text: string, flags = 0): boolean =>
  RE2JS.compile(pattern, RE2JS.DOTALL | flags)
    .matcher(text)
    .find()

/** Compares without case by a regular expression of JavaScript, which folds it as Unicode says. */
function matchesFolded({ operator, value }: StringClause, actual: string): boolean {
  const test = (before: string, after: string) =>
    new RegExp(`${before}${escape(value)}${after}`, 'isu').test(actual)
  switch (operator) {
    case 'any':
      return actual !== ''
    case 'eq':
      return test('^', '$')
    case 'notEq':
      return !test('^', '$')
    case 'contains':
      return test('', '')
    case 'notContains':
      return !test('', '')
    case 'startsWith':
      return test('^', '')
    case 'endsWith':
      return test('', '$')
    case 'matches':
      return matchesPattern(value, actual, RE2JS.CASE_INSENSITIVE)
    case 'notMatches':
      return !matchesPattern(value, actual, RE2JS.CASE_INSENSITIVE)
  }
}

const matchesClause = (clause: StringClause, actual: string): boolean => {
  const { operator, value, caseSensitive = true } = clause
  if (!caseSensitive) return matchesFolded(clause, actual)
  switch (operator) {
    case 'any':
      return actual !== ''
    case 'eq':
      return actual === value
    case 'notEq':
      return actual !== value
    case 'contains':
      return actual.includes(value)
    case 'notContains':
      return !actual.includes(value)
    case 'startsWith':
      return actual.startsWith(value)
    case 'endsWith':
      return actual.endsWith(value)
    case 'matches':
      return matchesPattern(value, actual)
    case 'notMatches':
      return !matchesPattern(value, actual)
  }
}
const matchesOptional = (one: StringClause | undefined, actual: string): boolean =>
  one === undefined || matchesClause(one, actual)
const matchesList = ({ operator, value }: ListClause, actual: string): boolean =>
  value.includes(actual) === (operator === 'oneOf')

/** The path of the first pageview of a session, or of the last one. Of the last at the same moment, the one that sorts last. */
function readPage({ events }: Session, which: 'entry' | 'exit'): string {
  const pageviews = events.filter(isPageview)
  if (which === 'entry') return pageviews[0]?.page.path ?? ''
  const last = pageviews.filter(({ at }) => at === pageviews.at(-1)!.at)
  return (
    last
      .map(({ page }) => Buffer.from(page.path))
      .sort((one, other) => Buffer.compare(one, other))
      .at(-1)
      ?.toString() ?? ''
  )
}

/** A filter on a session attribute, which has the name of the filter, by a list of values. */
type ListFilter = Extract<Filter, ListClause>
const isListFilter = (filter: Filter): filter is ListFilter =>
  'value' in filter && Array.isArray(filter.value)

function satisfies(event: Event, filter: Filter): boolean {
  const readAttribute = (name: string): string => event.session!.events[0]!.attributes[name]!
  if (isListFilter(filter)) {
    return matchesList(
      filter,
      readAttribute(filter.type === 'device' ? 'device_type' : filter.type),
    )
  }
  switch (filter.type) {
    case 'page':
      return (['origin', 'path', 'hash'] as const).every((part) =>
        matchesOptional(filter[part], event.page[part]),
      )
    case 'entry_page':
      return matchesClause(filter, readPage(event.session!, 'entry'))
    case 'exit_page':
      return matchesClause(filter, readPage(event.session!, 'exit'))
    case 'event':
      return (
        matchesOptional(filter.name, event.name) &&
        (filter.properties ?? []).every(({ property, ...clause }) => {
          const { operator } = clause
          const actual = event.properties.get(property)
          if (operator === 'any') return actual !== undefined
          if (actual === undefined) return operator.startsWith('not')
          return matchesClause(clause, actual)
        })
      )
    case 'user':
      return event.anonymous === filter.anonymous
    case 'location':
      return (['country', 'city'] as const).every((name) => {
        const one = filter[name]
        return one === undefined || matchesList(one, readAttribute(name))
      })
    case 'utm_tags':
      return (
        ['utm_campaign', 'utm_content', 'utm_medium', 'utm_source', 'utm_term'] as const
      ).every((name) => matchesOptional(filter[name], readAttribute(name)))
    case 'referrer':
    case 'referrer_url':
      return matchesClause(filter, readAttribute(filter.type))
    case 'visit':
      return event.session!.events.some((other) =>
        filter.filters.every((one) => satisfies(other, one)),
      )
    case 'group': {
      const satisfied = filter.filters.map((one) => satisfies(event, one))
      if (filter.operator === 'or') return satisfied.includes(true)
      return (filter.operator === 'and') !== satisfied.includes(false)
    }
  }
}

/** Whether an event satisfies the filters of a request. */
export const matchesFilters = (
  event: Event,
  { filters, filtersOperator }: Pick<AnalyticsQueryRequest, 'filters' | 'filtersOperator'>,
): boolean =>
  filters.length === 0 ||
  (filtersOperator === 'or'
    ? filters.some((filter) => satisfies(event, filter))
    : filters.every((filter) => satisfies(event, filter)))

const isPageview = ({ name }: Event): boolean => name === 'pageview'

const isInterval = (token: string | undefined): boolean => token?.startsWith('interval:') === true

/** Returns the group of an event; undefined if it is in none. */
function findGroup(event: Event, token: string | undefined, bucket: (at: number) => string) {
  if (token === undefined) return ''
  if (isInterval(token)) return bucket(event.at)
  if (token === 'page:origin') return event.page.origin || undefined
  if (token === 'page:path') return event.page.path || undefined
  if (token === 'page:entry') return readPage(event.session!, 'entry') || undefined
  if (token === 'page:exit') return readPage(event.session!, 'exit') || undefined
  if (token === 'event:name') return isPageview(event) ? undefined : event.name
  if (token.startsWith('event:prop:')) return event.properties.get(token.slice(11))
  return event.session!.events[0]!.attributes[token]!
}

const isComplete = (keys: readonly (string | undefined)[]): keys is readonly string[] =>
  keys.every((key) => key !== undefined)

/** Returns the group in which a visit counts; undefined if it counts in none. */
function findVisitGroup(visit: Session, token: string | undefined, bucket: (at: number) => string) {
  if (token === 'event:name' || token?.startsWith('event:prop:') === true) return undefined
  const entry = visit.events.find(isPageview)!
  const isPage = token === 'page:origin' || token === 'page:path'
  return findGroup(isPage ? entry : visit.events[0]!, token, bucket)
}

export const roundToHundredths = (numerator: number, denominator: number): number =>
  Math.floor((2 * numerator + denominator) / (2 * denominator)) / 100

type Period = { readonly start: number; readonly end: number }
type Buckets = readonly { readonly from: number; readonly label: string }[]

/** Returns the values of the largest groups of `then_by`, which have a series: the largest first. */
function listLargest(
  events: readonly Event[],
  { then_by: second = [], group_limit, ...request }: AnalyticsQueryRequest,
  period: Period,
  buckets: Buckets,
): string[] {
  const metric = request.metrics[0]!
  const limit = group_limit ?? Math.max(1, Math.floor(request.limit / buckets.length))
  const value = (row: Row): string => row.group[second[0]!]!
  const size = ({ metrics }: Row): number => metrics[metric] ?? -1
  return computeRows(events, { ...request, group_by: second, metrics: [metric] }, period, [])
    .sort(
      (a, b) => size(b) - size(a) || Buffer.compare(Buffer.from(value(a)), Buffer.from(value(b))),
    )
    .slice(0, limit)
    .map(value)
}

const compareKeys = (a: readonly string[], b: readonly string[]): number =>
  a
    .map((key, i) => Buffer.compare(Buffer.from(key), Buffer.from(b[i]!)))
    .find((order) => order !== 0) ?? 0

/**
 * Computes all rows of a response before limit and offset. `buckets` are those of a time series, with labels. With a second
 * grouping they are in the order of rows with equal values, otherwise in none.
 */
export function computeRows(
  events: readonly Event[],
  request: AnalyticsQueryRequest,
  period: Period,
  buckets: Buckets,
): Row[] {
  const [token] = request.group_by
  const tokens = [...request.group_by, ...(request.then_by ?? [])]
  const isRanked = isInterval(token) && tokens.length > 1
  const largest = isRanked ? listLargest(events, request, period, buckets) : ['']
  const bucket = (at: number): string => buckets.findLast(({ from }) => from <= at)!.label
  const inPeriod = (at: number): boolean => at >= period.start && at < period.end
  const matching = events.filter((event) => matchesFilters(event, request))
  const firstAt = new Map<string, number>()
  for (const { user, at } of events) if (!firstAt.has(user)) firstAt.set(user, at)
  const groups = new Map<string, { readonly keys: readonly string[]; readonly inGroup: Event[] }>()
  const find = (keys: readonly string[]) => {
    const name = JSON.stringify(keys)
    const group = groups.get(name) ?? { keys, inGroup: [] }
    groups.set(name, group)
    return group
  }
  if (token === undefined) find([])
  if (isInterval(token)) {
    for (const { label } of buckets) {
      for (const value of largest) find(isRanked ? [label, value] : [label])
    }
  }
  for (const event of matching.filter(({ at }) => inPeriod(at))) {
    const keys = tokens.map((one) => findGroup(event, one, bucket))
    if (isRanked && !largest.includes(keys[1] ?? '')) continue
    if (isComplete(keys)) find(keys).inGroup.push(event)
  }
  const inOrder = [...groups.values()]
  if (tokens.length > 1 && !isRanked) inOrder.sort((a, b) => compareKeys(a.keys, b.keys))
  const visits = [...new Set(matching.map(({ session }) => session!))].filter(
    (session) => session.events.some(isPageview) && inPeriod(session.events[0]!.at),
  )
  return inOrder.map(({ keys, inGroup }) => {
    const started = visits.filter((visit) =>
      tokens.every((one, i) => findVisitGroup(visit, one, bucket) === keys[i]),
    )
    const bounces = started.filter((visit) => visit.events.length === 1).length
    const pageviews = inGroup.filter(isPageview).length
    const custom = inGroup.length - pageviews
    const hasVisits = !tokens.some((one) => one.startsWith('event:'))
    const perVisit = (count: number): number | null =>
      started.length === 0 || tokens.some((one) => one === 'page:path' || one === 'page:origin')
        ? null
        : roundToHundredths(100 * count, started.length)
    const seconds = started.map(({ events: all }) => all.at(-1)!.at - all[0]!.at)
    const isNew = ({ user }: Event): boolean => {
      const first = firstAt.get(user)!
      return inPeriod(first) && (!isInterval(token) || bucket(first) === keys[0])
    }
    const values: Record<Metric, number | null> = {
      new_users: new Set(inGroup.filter(isNew).map(({ user }) => user)).size,
      users: new Set(inGroup.map(({ user }) => user)).size,
      pageviews,
      events: custom,
      bounce_rate:
        started.length === 0 ? null : roundToHundredths(10_000 * bounces, started.length),
      visit_duration:
        started.length === 0
          ? null
          : roundToHundredths(
              seconds.reduce((a, b) => a + b, 0),
              10 * started.length,
            ),
      visits: hasVisits ? started.length : null,
      views_per_visit: perVisit(pageviews),
      events_per_visit: perVisit(custom),
    }
    return {
      group: Object.fromEntries(tokens.map((one, i) => [isInterval(one) ? 'date' : one, keys[i]!])),
      metrics: Object.fromEntries(request.metrics.map((name) => [name, values[name]])),
    }
  })
}

/** Computes the values of a field in the order of the response, before the limit. */
export function computeValues(
  events: readonly Event[],
  { field, search, filters = [], filtersOperator = 'and' }: ValuesRequest,
  period: Period,
): ValuesResponse['data'] {
  const found = new Map<string, { pageviews: number; events: number }>()
  const matching = events.filter((event) => matchesFilters(event, { filters, filtersOperator }))
  for (const event of matching.filter(({ at }) => at >= period.start && at < period.end)) {
    for (const value of listValues(event, field).filter((one) => one.includes(search))) {
      const { pageviews, events: custom } = found.get(value) ?? { pageviews: 0, events: 0 }
      const counts = isPageview(event)
        ? { pageviews: pageviews + 1, events: custom }
        : { pageviews, events: custom + 1 }
      found.set(value, counts)
    }
  }
  const first = field.startsWith('event:') ? 'events' : 'pageviews'
  return [...found]
    .map(([value, counts]) => ({ value, ...counts }))
    .sort((a, b) => b[first] - a[first] || compareKeys([a.value], [b.value]))
}

/** Lists the values of a field that an event has: it has a name for each of its properties. */
function listValues(event: Event, field: ValuesRequest['field']): readonly string[] {
  if (field === 'event:prop') return [...event.properties.keys()]
  const value = findGroup(event, field, () => '')
  return value === undefined ? [] : [value]
}
