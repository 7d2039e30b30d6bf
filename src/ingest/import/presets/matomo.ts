/** Matomo: the visits that `Live.getLastVisitsDetails` returns as JSON, each with its actions. */
import { READ, toText, type EventValues, type ForeignRow, type Preset } from './preset.js'

/** What an action of each type is named; others keep the name of their type. */
const NAMES: Readonly<Record<string, (action: ForeignRow) => unknown>> = {
  action: () => 'pageview',
  event: ({ eventAction }) => eventAction,
}

/** The keys of an action that become properties, beside those of custom dimensions. */
const PROPERTIES: ReadonlySet<string> = new Set(
  `eventCategory eventName eventValue siteSearchKeyword siteSearchCategory siteSearchCount goalName goalId revenue
  orderId contentName contentPiece contentTarget contentInteraction`.split(/\s+/),
)
const DIMENSION = /^dimension\d+$/

/** A user is the user id of a visit, or else the visitor id, which comes from Matomo's cookie or from a fingerprint. */
export const MATOMO: Preset = {
  title: "the JSON of Matomo's Live.getLastVisitsDetails",
  format: 'json',
  required: ['idVisit', 'visitorId', 'actionDetails'],
  columns: {
    idVisit: READ,
    visitorId: READ,
    userId: READ,
    actionDetails: READ,
    referrerType: READ,
    referrerName: READ,
    referrerKeyword: READ,
    campaignName: READ,
    referrerUrl: 'referrer_url',
    campaignSource: 'utm_source',
    campaignMedium: 'utm_medium',
    campaignContent: 'utm_content',
    campaignKeyword: READ,
    browserName: 'browser',
    operatingSystemName: 'os',
    deviceType: 'device_type',
    languageCode: 'language',
    countryCode: READ,
    regionCode: READ,
    city: 'city',
  },
  toEvents: toActions,
}

function toActions(visit: ForeignRow): readonly EventValues[] {
  const { idVisit, visitorId, userId, actionDetails } = visit
  const [country, region] = [
    toText(visit['countryCode']).toUpperCase(),
    toText(visit['regionCode']),
  ]
  const isCampaign = visit['referrerType'] === 'campaign'
  const shared = {
    user_id: toText(userId) || toText(visitorId),
    anonymous: toText(userId) === '',
    session_id: toText(idVisit),
    country,
    region: country === '' || region === '' ? region : `${country}-${region}`,
    utm_campaign: visit['campaignName'] ?? (isCampaign ? visit['referrerName'] : undefined),
    utm_term: visit['campaignKeyword'] ?? (isCampaign ? visit['referrerKeyword'] : undefined),
  }
  const actions = Array.isArray(actionDetails) ? (actionDetails as readonly ForeignRow[]) : []
  return actions.map((action, i) => ({ ...shared, ...toAction(action, `${toText(idVisit)}-${i}`) }))
}

function toAction(action: ForeignRow, id: string): EventValues {
  const { type, url, timestamp } = action
  const properties = Object.entries(action).filter(
    ([key, value]) =>
      (PROPERTIES.has(key) || DIMENSION.test(key)) && value !== '' && value !== null,
  )
  return {
    event_id: `matomo-${id}`,
    timestamp,
    name: NAMES[toText(type)]?.(action) ?? type,
    url,
    ...Object.fromEntries(properties.map(([key, value]) => [`properties.${key}`, value])),
  }
}
