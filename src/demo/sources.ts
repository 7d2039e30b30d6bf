/** Where the visits of the demo come from. */
import { chooser, type Weighted } from './weighted.js'

export interface Source extends Weighted {
  /** What the first event of the visit says of it; nothing for direct visits. */
  readonly fields: Readonly<Record<string, string>>
  /** What its links carry, from the question mark on. */
  readonly query?: string
  /** Where its links lead; elsewhere the visitor's choice. */
  readonly landing?: string
  /** Whether its links lead into the site rather than to its front. */
  readonly deep?: true
  /** The share of its visits that end with their first page. */
  readonly bounces: number
  /** The months, 1 to 12, in which it sends anyone; all where absent. */
  readonly months?: readonly number[]
}

const referrer = (
  name: string,
  type: string,
  url: string,
): { readonly fields: Source['fields'] } => ({
  fields: { referrer: name, referrer_type: type, referrer_url: url },
})

const utm = (tags: Readonly<Record<string, string>>): string =>
  `?${Object.entries(tags)
    .map(([tag, value]) => `utm_${tag}=${encodeURIComponent(value)}`)
    .join('&')}`

const google = referrer('Google', 'search', 'https://www.google.com/')
const paidGoogle = referrer('Google', 'paid', 'https://www.google.com/')
const paidInstagram = referrer('Instagram', 'paid', 'https://l.instagram.com/')
const newsletter = { fields: { referrer_type: 'email' } }

const ads = (campaign: string, content: string, term: string): string =>
  utm({ source: 'google', medium: 'cpc', campaign, content, term })
const social = (campaign: string, content: string): string =>
  utm({ source: 'instagram', medium: 'paid-social', campaign, content })
const mail = (campaign: string): string => utm({ source: 'newsletter', medium: 'email', campaign })

const SOURCES: readonly Source[] = [
  { weight: 31, fields: {}, bounces: 0.44 },
  { weight: 27, ...google, deep: true, bounces: 0.52 },
  { weight: 3.2, ...referrer('Bing', 'search', 'https://www.bing.com/'), deep: true, bounces: 0.5 },
  {
    weight: 2.4,
    ...referrer('DuckDuckGo', 'search', 'https://duckduckgo.com/'),
    deep: true,
    bounces: 0.47,
  },
  { weight: 0.8, ...referrer('Ecosia', 'search', 'https://www.ecosia.org/'), bounces: 0.49 },
  { weight: 5, ...referrer('Instagram', 'social', 'https://l.instagram.com/'), bounces: 0.64 },
  { weight: 3.5, ...referrer('Facebook', 'social', 'https://l.facebook.com/'), bounces: 0.63 },
  {
    weight: 2.4,
    ...referrer('Reddit', 'social', 'https://www.reddit.com/'),
    deep: true,
    bounces: 0.66,
  },
  { weight: 1.6, ...referrer('YouTube', 'social', 'https://www.youtube.com/'), bounces: 0.58 },
  { weight: 1.1, ...referrer('Pinterest', 'social', 'https://www.pinterest.com/'), bounces: 0.6 },
  { weight: 2.6, ...referrer('ChatGPT', 'llm', 'https://chatgpt.com/'), deep: true, bounces: 0.41 },
  {
    weight: 0.9,
    ...referrer('Perplexity', 'llm', 'https://www.perplexity.ai/'),
    deep: true,
    bounces: 0.43,
  },
  { weight: 0.7, ...referrer('Claude', 'llm', 'https://claude.ai/'), deep: true, bounces: 0.4 },
  {
    weight: 1.7,
    ...referrer('trailblog.example', 'unknown', 'https://trailblog.example/gear/packing-list'),
    deep: true,
    bounces: 0.46,
  },
  {
    weight: 1.1,
    ...referrer('hut-finder.example', 'unknown', 'https://hut-finder.example/partners'),
    bounces: 0.5,
  },
  {
    weight: 2.5,
    ...paidGoogle,
    query: ads('brand', 'homepage', 'shop example'),
    landing: '/',
    bounces: 0.38,
  },
  {
    weight: 3.5,
    ...paidGoogle,
    query: ads('tents', 'two-person', 'light tent'),
    landing: '/products/two-person-tent',
    months: [3, 4, 5, 6, 7, 8],
    bounces: 0.55,
  },
  {
    weight: 3,
    ...paidInstagram,
    query: social('autumn-layers', 'reel'),
    landing: '/collections/hiking',
    months: [9, 10],
    bounces: 0.62,
  },
  {
    weight: 7,
    ...paidInstagram,
    query: social('black-friday', 'countdown'),
    landing: '/sale',
    months: [11],
    bounces: 0.48,
  },
  {
    weight: 4,
    ...paidGoogle,
    query: ads('winter-sale', 'sale', 'down jacket'),
    landing: '/sale',
    months: [12, 1],
    bounces: 0.51,
  },
  { weight: 3, ...newsletter, query: mail('weekly'), deep: true, bounces: 0.36 },
  { weight: 2, ...newsletter, query: mail('members'), landing: '/membership', bounces: 0.33 },
  {
    weight: 2.5,
    ...newsletter,
    query: mail('spring-news'),
    landing: '/sale',
    months: [3, 4],
    bounces: 0.35,
  },
]

const BY_MONTH = Array.from({ length: 12 }, (_, i) =>
  chooser(SOURCES.filter(({ months }) => months?.includes(i + 1) ?? true)),
)

/** The choice of sources in a month, 1 to 12. */
export function sourcesOf(month: number): (typeof BY_MONTH)[number] {
  const choose = BY_MONTH[month - 1]
  if (choose === undefined) throw new RangeError(`there is no month ${month}`)
  return choose
}
