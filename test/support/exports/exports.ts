/** Writes traffic as the exports of other tools, by their documented formats. */
import { BROWSERS, COUNTRIES, type Action, type Visit } from './traffic.js'

const HOST = 'shop.example'
const iso = (seconds: number): string => new Date(seconds * 1_000).toISOString()
const uuid = (kind: number, n: number): string =>
  `0000000${kind}-0000-4000-8000-${String(n).padStart(12, '0')}`
const encodePath = (path: string): string => new URL(path, `https://${HOST}`).pathname

interface Step {
  readonly visit: Visit
  readonly action: Action
  readonly at: number
  readonly n: number
}
const listSteps = (visits: readonly Visit[]): readonly Step[] =>
  visits
    .flatMap((visit) =>
      visit.actions.map((action) => ({ visit, action, at: visit.start + action.after })),
    )
    .map((step, n) => ({ ...step, n }))

const quote = (cell: string): string => `"${cell.replaceAll('"', '""')}"`
const toCsv = (rows: readonly Readonly<Record<string, string>>[]): string =>
  [Object.keys(rows[0]!), ...rows.map((row) => Object.values(row))]
    .map((cells) => `${cells.map(quote).join(',')}\n`)
    .join('')

/** The columns that both exports of Umami have. */
const toUmamiRow = ({ visit, action, n }: Step): Readonly<Record<string, string>> => ({
  event_id: uuid(1, n),
  session_id: uuid(2, visit.visitor),
  visit_id: uuid(3, visit.id),
  hostname: HOST,
  browser: BROWSERS[visit.browser].umami,
  os: 'Windows 10',
  device: 'laptop',
  screen: '1920x1080',
  language: 'de-DE',
  country: visit.country,
  city: '',
  url_path: encodePath(action.path),
  url_query: visit.campaign === '' ? '' : `utm_campaign=${visit.campaign}`,
  referrer_domain: 'www.google.com',
  referrer_path: '/',
  referrer_query: '',
  page_title: 'A page, "quoted"',
  event_type: action.event === undefined ? '1' : '2',
  event_name: action.event?.name ?? '',
  tag: '',
})

/** The table website_event of Umami's cloud, which is one of ClickHouse. */
export const toUmamiCloud = (visits: readonly Visit[]): string =>
  toCsv(
    listSteps(visits).map((step) => ({
      website_id: uuid(0, 1),
      ...toUmamiRow(step),
      subdivision1: 'DE-BE',
      subdivision2: '',
      created_at: iso(step.at).slice(0, 19).replace('T', ' '),
      job_id: '\\N',
    })),
  )

/** What the documented \copy of the tables website_event, session and event_data writes. */
export const toUmamiPostgres = (visits: readonly Visit[]): string =>
  toCsv(
    listSteps(visits).map((step) => ({
      ...toUmamiRow(step),
      region: 'DE-BE',
      // A session of psql in another zone.
      created_at: `${iso(step.at + 7_200)
        .slice(0, 19)
        .replace('T', ' ')}.000+02`,
      event_data: step.action.event ? JSON.stringify({ plan: step.action.event.plan }) : '',
    })),
  )

/** The visits of Live.getLastVisitsDetails, the latest first, as Matomo returns them. */
export const toMatomo = (visits: readonly Visit[]): string =>
  JSON.stringify(
    visits.toReversed().map((visit) => ({
      idSite: 1,
      idVisit: visit.id + 1,
      visitIp: '203.0.0.0',
      visitorId: visit.visitor.toString(16).padStart(16, '0'),
      fingerprint: 'd58a483a3cfef87b',
      actionDetails: visit.actions.map((action, i) => ({
        type: action.event === undefined ? 'action' : 'event',
        url: `https://${HOST}${encodePath(action.path)}`,
        pageTitle: 'A page, "quoted" \\ {',
        pageIdAction: 2,
        idpageview: `p${i}`,
        serverTimePretty: 'Mar 2, 2026 00:00:00',
        timeSpent: '0',
        ...(action.event && {
          eventCategory: 'shop',
          eventAction: action.event.name,
          eventName: action.event.plan,
        }),
        timestamp: visit.start + action.after,
      })),
      goalConversions: 0,
      siteCurrency: 'USD',
      serverTimestamp: visit.start,
      userId: null,
      visitorType: 'new',
      referrerType: visit.campaign === '' ? 'direct' : 'campaign',
      referrerName: visit.campaign === '' ? '' : visit.campaign,
      referrerKeyword: '',
      referrerUrl: '',
      languageCode: 'de-de',
      deviceType: 'Smartphone',
      operatingSystemName: 'GNU/Linux',
      browserName: BROWSERS[visit.browser].matomo,
      country: COUNTRIES[visit.country],
      countryCode: visit.country.toLowerCase(),
      regionCode: 'BE',
      city: '',
      plugins: 'cookie',
    })),
  )

interface Param {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}
const text = (key: string, value: string): Param => ({ key, value: { string_value: value } })
const int = (key: string, value: number): Param => ({ key, value: { int_value: String(value) } })

/** The events of a visit, with those that GA4 derives. */
function toGa4Events(visit: Visit): readonly object[] {
  const shared = {
    user_pseudo_id: `${visit.visitor}.1700000000`,
    device: {
      category: 'desktop',
      operating_system: 'Macintosh',
      language: 'de-de',
      web_info: { browser: BROWSERS[visit.browser].ga4, hostname: HOST },
    },
    geo: {
      continent: 'Europe',
      country: COUNTRIES[visit.country],
      region: 'Berlin',
      city: '(not set)',
    },
    traffic_source: { name: '(direct)', medium: '(none)', source: '(direct)' },
    ...(visit.campaign && { collected_traffic_source: { manual_campaign_name: visit.campaign } }),
    platform: 'WEB',
    items: [],
  }
  const toEvent = (name: string, action: Action, more: readonly Param[]): object => ({
    event_date: '20260302',
    // Microseconds since 1970; BigQuery writes 64 bits as text.
    event_timestamp: String((visit.start + action.after) * 1_000_000 + 123),
    event_name: name,
    event_params: [
      int('ga_session_id', visit.start),
      int('ga_session_number', 1),
      text('page_location', `https://${HOST}${encodePath(action.path)}`),
      text('page_title', 'A page'),
      ...more,
    ],
    ...shared,
  })
  const first = visit.actions[0]!
  return [
    toEvent('session_start', first, []),
    ...visit.actions.map((action) =>
      action.event === undefined
        ? toEvent('page_view', action, [])
        : toEvent(action.event.name, action, [text('plan', action.event.plan)]),
    ),
    toEvent('user_engagement', visit.actions.at(-1)!, [int('engagement_time_msec', 5_000)]),
  ]
}

/** The tables events_YYYYMMDD that `bq extract` writes as NDJSON. */
export const toGa4 = (visits: readonly Visit[]): string =>
  visits
    .flatMap(toGa4Events)
    .map((event) => `${JSON.stringify(event)}\n`)
    .join('')
