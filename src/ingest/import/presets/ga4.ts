/** Google Analytics 4: the tables `events_YYYYMMDD` of its BigQuery export, as JSON. */
import { READ, toText, type EventValues, type ForeignRow, type Preset } from './preset.js'

/** Events that GA4 derives from others. They would make every visit one with custom events, so none would be a bounce. */
const DERIVED: ReadonlySet<unknown> = new Set(['session_start', 'first_visit', 'user_engagement'])

/** The parameters that are not properties: fields have them, or they are about GA4 itself. */
const NO_PROPERTIES: ReadonlySet<string> = new Set(
  `page_location page_referrer page_title ga_session_id ga_session_number engaged_session_event session_engaged
  engagement_time_msec entrances ignore_referrer batch_ordering_id batch_page_id source medium campaign term content
  campaign_id gclid gclsrc dclid srsltid synthetic_bundle debug_mode`.split(/\s+/),
)

/** A user is a `user_pseudo_id`: the browser, by GA4's cookie. It stays the same when somebody logs in. */
export const GA4: Preset = {
  title: "the JSON of GA4's BigQuery tables events_YYYYMMDD",
  format: 'json',
  required: ['event_timestamp', 'event_name'],
  columns: {
    event_timestamp: 'timestamp',
    event_name: READ,
    event_params: READ,
    user_pseudo_id: READ,
    user_id: READ,
    device: READ,
    geo: READ,
    collected_traffic_source: READ,
  },
  toEvents: toEvent,
}

function toEvent(row: ForeignRow): readonly EventValues[] {
  const { event_name: name, user_pseudo_id: pseudoId, user_id: userId } = row
  if (DERIVED.has(name)) return []
  const params = readParams(row['event_params'])
  const [device, geo, source] = [
    toObject(row['device']),
    toObject(row['geo']),
    toObject(row['collected_traffic_source']),
  ]
  const user = toText(pseudoId) || toText(userId)
  const session = toText(params.get('ga_session_id'))
  return [
    {
      name: name === 'page_view' ? 'pageview' : name,
      user_id: user,
      anonymous: toText(userId) === '',
      // GA4 numbers sessions by the second at which they begin, so only user and number identify one.
      session_id: user === '' || session === '' ? '' : `${user}.${session}`,
      url: params.get('page_location'),
      referrer_url: params.get('page_referrer'),
      utm_source: source['manual_source'],
      utm_medium: source['manual_medium'],
      utm_campaign: source['manual_campaign_name'],
      utm_content: source['manual_content'],
      utm_term: source['manual_term'],
      browser: toObject(device['web_info'])['browser'] ?? device['browser'],
      os: device['operating_system'],
      device_type: device['category'],
      language: device['language'],
      country: geo['country'],
      region: geo['region'],
      city: geo['city'],
      ...Object.fromEntries(
        [...params].flatMap(([key, value]) =>
          NO_PROPERTIES.has(key) ? [] : [[`properties.${key}`, value]],
        ),
      ),
    },
  ]
}

/** Reads the values of a list of parameters. Each has one of several types. */
function readParams(params: unknown): ReadonlyMap<string, unknown> {
  const list = Array.isArray(params) ? (params as readonly unknown[]) : []
  return new Map(
    list.map(toObject).flatMap(({ key, value }) => {
      const {
        string_value: text,
        int_value: int,
        float_value: float,
        double_value: double,
      } = toObject(value)
      // BigQuery writes integers as text.
      const read = text ?? int ?? double ?? float
      return read === undefined || read === null ? [] : [[String(key), read] as const]
    }),
  )
}

const toObject = (value: unknown): ForeignRow =>
  typeof value === 'object' && value !== null ? (value as ForeignRow) : {}
