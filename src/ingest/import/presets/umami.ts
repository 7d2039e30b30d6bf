/** Umami: the table `website_event`, as its cloud exports it, or joined with `session` in PostgreSQL. */
import { LEFT_OUT, READ, toText, type EventValues, type ForeignRow, type Preset } from './preset.js'

/** The values of `event_type` that have no name of their own. */
const NAMES: Readonly<Record<string, string>> = { 1: 'pageview', 3: 'link', 4: 'pixel' }
/** Measurements of how fast a page was. */
const PERFORMANCE = '5'

const ZONELESS = /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?$/

/** A session of Umami is a visitor of a month, a visit is a session of ours. */
export const UMAMI: Preset = {
  title: "Umami's table website_event",
  format: 'csv',
  required: ['created_at', 'session_id', 'event_type', 'event_name', 'url_path'],
  columns: {
    event_id: 'event_id',
    created_at: READ,
    session_id: 'user_id',
    visit_id: 'session_id',
    event_type: READ,
    event_name: READ,
    event_data: 'properties',
    tag: 'properties.tag',
    hostname: READ,
    url_path: READ,
    url_query: READ,
    referrer_domain: READ,
    referrer_path: READ,
    referrer_query: READ,
    utm_source: 'utm_source',
    utm_medium: 'utm_medium',
    utm_campaign: 'utm_campaign',
    utm_content: 'utm_content',
    utm_term: 'utm_term',
    browser: 'browser',
    os: 'os',
    device: 'device_type',
    language: 'language',
    country: 'country',
    region: 'region',
    subdivision1: 'region',
    city: 'city',
    ...Object.fromEntries(
      `website_id screen page_title distinct_id subdivision2 ip job_id session_created_at
      gclid fbclid msclkid ttclid li_fat_id twclid lcp inp cls fcp ttfb`
        .split(/\s+/)
        .map((name) => [name, LEFT_OUT]),
    ),
  },
  toEvents: toEvent,
}

function toEvent(row: ForeignRow): readonly EventValues[] {
  const read = (column: string): string => toText(row[column])
  const [type, at, host] = [read('event_type'), read('created_at'), read('hostname')]
  if (type === PERFORMANCE) return []
  const query = read('url_query') === '' ? '' : `?${read('url_query').replace(/^\?/, '')}`
  return [
    {
      timestamp: ZONELESS.test(at) ? `${at}Z` : at,
      anonymous: true,
      name: NAMES[type] ?? (read('event_name') || `event_type ${type}`),
      ...(host === ''
        ? { path: read('url_path').replace(/[?#].*/s, '') }
        : { url: `https://${host}${read('url_path')}${query}` }),
      referrer_url: joinReferrer(
        read('referrer_domain'),
        read('referrer_path'),
        read('referrer_query'),
      ),
    },
  ]
}

function joinReferrer(domain: string, path: string, query: string): string {
  if (domain === '') return ''
  return `https://${domain}${path}${query === '' ? '' : `?${query}`}`
}
