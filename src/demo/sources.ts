/** The traffic sources of the demo: referrers, campaigns, direct visits. */
import { createChooser, type Choose, type Weighted } from './weighted.js'

export interface Source extends Weighted {
  /** The fields it sets on the first event of a visit; none for direct visits. */
  readonly fields: Readonly<Record<string, string>>
  /** The query string of its links, with the question mark. */
  readonly query?: string
  /** The page its links lead to; absent when that varies. */
  readonly landing?: string
  /** Whether its links lead to articles and products rather than to the home page. */
  readonly deep?: true
  /** The share of its visits that end on their first page, from 0 to 1. */
  readonly bounces: number
  /** The months, 1 to 12, in which it sends visitors; all when absent. */
  readonly months?: readonly number[]
}

const createReferrer = (name: string, type: string, url: string): Pick<Source, 'fields'> => ({
  fields: { referrer: name, referrer_type: type, referrer_url: url },
})

const buildQuery = (tags: Readonly<Record<string, string>>): string =>
  `?${Object.entries(tags)
    .map(([tag, value]) => `utm_${tag}=${encodeURIComponent(value)}`)
    .join('&')}`

const google = createReferrer('Google', 'search', 'https://www.google.com/')
const paidGoogle = createReferrer('Google', 'paid', 'https://www.google.com/')
export const paidInstagram = createReferrer('Instagram', 'paid', 'https://l.instagram.com/')
export const newsletter = { fields: { referrer_type: 'email' } }

const buildAdsQuery = (campaign: string, content: string, term: string): string =>
  buildQuery({ source: 'google', medium: 'cpc', campaign, content, term })
export const buildSocialQuery = (campaign: string, content: string): string =>
  buildQuery({ source: 'instagram', medium: 'paid-social', campaign, content })
export const instagram = createReferrer('Instagram', 'social', 'https://l.instagram.com/')
export const youTube = createReferrer('YouTube', 'social', 'https://www.youtube.com/')
export const trailblog = createReferrer(
  'trailblog.example',
  'unknown',
  'https://trailblog.example/gear/packing-list',
)

export const buildMailQuery = (campaign: string): string =>
  buildQuery({ source: 'newsletter', medium: 'email', campaign })

const SOURCES: readonly Source[] = [
  { weight: 31, fields: {}, bounces: 0.44 },
  { weight: 27, ...google, deep: true, bounces: 0.52 },
  {
    weight: 3.2,
    ...createReferrer('Bing', 'search', 'https://www.bing.com/'),
    deep: true,
    bounces: 0.5,
  },
  {
    weight: 2.4,
    ...createReferrer('DuckDuckGo', 'search', 'https://duckduckgo.com/'),
    deep: true,
    bounces: 0.47,
  },
  { weight: 0.8, ...createReferrer('Ecosia', 'search', 'https://www.ecosia.org/'), bounces: 0.49 },
  {
    weight: 5,
    ...instagram,
    bounces: 0.64,
  },
  {
    weight: 3.5,
    ...createReferrer('Facebook', 'social', 'https://l.facebook.com/'),
    bounces: 0.63,
  },
  {
    weight: 2.4,
    ...createReferrer('Reddit', 'social', 'https://www.reddit.com/'),
    deep: true,
    bounces: 0.66,
  },
  {
    weight: 1.6,
    ...youTube,
    bounces: 0.58,
  },
  {
    weight: 1.1,
    ...createReferrer('Pinterest', 'social', 'https://www.pinterest.com/'),
    bounces: 0.6,
  },
  {
    weight: 2.6,
    ...createReferrer('ChatGPT', 'llm', 'https://chatgpt.com/'),
    deep: true,
    bounces: 0.41,
  },
  {
    weight: 0.9,
    ...createReferrer('Perplexity', 'llm', 'https://www.perplexity.ai/'),
    deep: true,
    bounces: 0.43,
  },
  {
    weight: 0.7,
    ...createReferrer('Claude', 'llm', 'https://claude.ai/'),
    deep: true,
    bounces: 0.4,
  },
  {
    weight: 1.7,
    ...trailblog,
    deep: true,
    bounces: 0.46,
  },
  {
    weight: 1.1,
    ...createReferrer('hut-finder.example', 'unknown', 'https://hut-finder.example/partners'),
    bounces: 0.5,
  },
  {
    weight: 2.5,
    ...paidGoogle,
    query: buildAdsQuery('brand', 'homepage', 'shop example'),
    landing: '/',
    bounces: 0.38,
  },
  {
    weight: 3.5,
    ...paidGoogle,
    query: buildAdsQuery('tents', 'two-person', 'light tent'),
    landing: '/products/two-person-tent',
    months: [3, 4, 5, 6, 7, 8],
    bounces: 0.55,
  },
  {
    weight: 2,
    ...paidInstagram,
    query: buildSocialQuery('layers', 'reel'),
    landing: '/collections/hiking',
    bounces: 0.62,
  },
  {
    weight: 7,
    ...paidInstagram,
    query: buildSocialQuery('black-friday', 'countdown'),
    landing: '/sale',
    months: [11],
    bounces: 0.48,
  },
  {
    weight: 4,
    ...paidGoogle,
    query: buildAdsQuery('winter-sale', 'sale', 'down jacket'),
    landing: '/sale',
    months: [12, 1],
    bounces: 0.51,
  },
  { weight: 3, ...newsletter, query: buildMailQuery('weekly'), deep: true, bounces: 0.36 },
  {
    weight: 2,
    ...newsletter,
    query: buildMailQuery('members'),
    landing: '/membership',
    bounces: 0.33,
  },
  {
    weight: 2.5,
    ...newsletter,
    query: buildMailQuery('spring-news'),
    landing: '/sale',
    months: [3, 4],
    bounces: 0.35,
  },
  {
    weight: 1.2,
    ...createReferrer('gear-deals.example', 'paid', 'https://gear-deals.example/'),
    query: buildQuery({ source: 'gear-deals', medium: 'affiliate', campaign: 'partners' }),
    deep: true,
    bounces: 0.57,
  },
  {
    weight: 0.9,
    fields: { referrer_type: 'unknown' },
    query: buildQuery({ source: 'store', medium: 'qr', campaign: 'shelf' }),
    deep: true,
    bounces: 0.29,
  },
]

const CHOOSERS_BY_MONTH = Array.from({ length: 12 }, (_, i) =>
  createChooser(SOURCES.filter(({ months }) => months?.includes(i + 1) ?? true)),
)

/** Returns the chooser of a month, 1 to 12. @throws RangeError for other months */
export function getSourceChooser(month: number): Choose<Source> {
  const choose = CHOOSERS_BY_MONTH[month - 1]
  if (choose === undefined) throw new RangeError(`there is no month ${month}`)
  return choose
}
