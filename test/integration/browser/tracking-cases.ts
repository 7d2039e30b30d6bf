/** Actions on a page, and the events that the tracking script sends for them. */
import { TOKEN } from './visit.js'

export interface Case {
  readonly why: string
  /** Attributes of the element that loads the script. */
  readonly attributes?: string
  /** Markup in the page's head, before the script. */
  readonly head?: string
  /** A script that runs before anything in the page does. */
  readonly before?: string
  /** Scripts that run in the page one after the other, once it is loaded. */
  readonly then?: readonly string[]
  readonly referer?: string
  /** The expected events. `at` is the path and query; the default is /start. */
  readonly want: readonly Want[]
}

export interface Want {
  readonly name: string
  readonly at?: string
  readonly referrer_url?: string
  readonly properties?: object
}

const START: Want = { name: 'pageview' }
const STAND_IN = `<script>
  window.tally = window.tally || function () { (tally.q = tally.q || []).push(arguments) }
</script>`
const DNT = `Object.defineProperty(Navigator.prototype, 'doNotTrack', { get: () => '1' })`
const GPC = `Object.defineProperty(Navigator.prototype, 'globalPrivacyControl', { get: () => true })`
const go = (how: string, to: string): string => `history.${how}({}, '', '${to}')`
const big = `'x'.repeat(100_000)`

export const CASES: readonly Case[] = [
  { why: 'a page is opened', want: [START] },
  {
    why: 'a page is opened from another site: only the first event has the referrer',
    referer: 'http://search.example/',
    then: [go('pushState', '/next'), `tally('signup')`],
    want: [
      { ...START, referrer_url: 'http://search.example/' },
      { name: 'pageview', at: '/next' },
      { name: 'signup', at: '/next' },
    ],
  },
  {
    why: 'pushState to a new path, then a new query, then with neither',
    then: [go('pushState', '/b'), go('pushState', '/b?x=1'), go('pushState', '/b?x=1')],
    want: [START, { name: 'pageview', at: '/b' }, { name: 'pageview', at: '/b?x=1' }],
  },
  {
    why: 'replaceState with the current address, without an address, and with a new path',
    then: [
      go('replaceState', '/start'),
      `history.replaceState({ a: 1 }, '')`,
      go('replaceState', '/b'),
    ],
    want: [START, { name: 'pageview', at: '/b' }],
  },
  {
    why: 'back and forth between addresses of one page',
    then: [go('pushState', '/b'), `history.back()`, `history.forward()`],
    want: [START, { name: 'pageview', at: '/b' }, START, { name: 'pageview', at: '/b' }],
  },
  {
    why: 'a new hash is not a new page',
    then: [`location.hash = 'a'`, go('pushState', '#b'), `history.back()`],
    want: [START],
  },
  {
    why: 'data-hash: a new hash is a new page',
    attributes: 'data-hash',
    then: [
      `location.hash = 'a'`,
      go('pushState', '#b'),
      go('replaceState', '#b'),
      `history.back()`,
    ],
    want: [START, ...['#a', '#b', '#a'].map((hash) => ({ ...START, at: `/start${hash}` }))],
  },
  {
    why: 'custom events, with properties and without',
    then: [
      `tally('signup', { plan: 'pro', seats: 3, trial: false, team: { name: 'x' }, none: null })`,
      `tally('signup')`,
    ],
    want: [
      START,
      {
        name: 'signup',
        properties: { plan: 'pro', seats: 3, trial: false, team: { name: 'x' }, none: null },
      },
      { name: 'signup' },
    ],
  },
  {
    why: 'events from before the script was loaded come after the pageview',
    head: `${STAND_IN}<script>tally('early', { a: 'b' }); tally('earlier')</script>`,
    want: [START, { name: 'early', properties: { a: 'b' } }, { name: 'earlier' }],
  },
  {
    why: 'a reference to the stand-in keeps working',
    head: `${STAND_IN}<script>const kept = tally</script>`,
    then: [`kept('late', { a: 'b' })`],
    want: [START, { name: 'late', properties: { a: 'b' } }],
  },
  {
    why: 'a pageview by hand, at the same address too',
    then: [`tally('pageview', { tab: 'two' })`],
    want: [START, { name: 'pageview', properties: { tab: 'two' } }],
  },
  {
    why: 'data-manual: only pageviews by hand; the first has the referrer',
    attributes: 'data-manual',
    referer: 'http://search.example/',
    then: [go('pushState', '/b'), `tally('pageview')`, `tally('pageview')`],
    want: [
      { name: 'pageview', at: '/b', referrer_url: 'http://search.example/' },
      { name: 'pageview', at: '/b' },
    ],
  },
  { why: 'Do Not Track on a site without data-respect-dnt', before: DNT, want: [START] },
  { why: 'Global Privacy Control on a site without data-respect-dnt', before: GPC, want: [START] },
  {
    why: 'data-respect-dnt: Do Not Track',
    attributes: 'data-respect-dnt',
    before: DNT,
    head: `${STAND_IN}<script>tally('early')</script>`,
    then: [go('pushState', '/b'), `tally('signup')`],
    want: [],
  },
  {
    why: 'data-respect-dnt: Global Privacy Control',
    attributes: 'data-respect-dnt',
    before: GPC,
    then: [go('pushState', '/b'), `tally('signup')`],
    want: [],
  },
  {
    why: 'data-respect-dnt: a browser without either signal',
    attributes: 'data-respect-dnt',
    then: [`tally('signup')`],
    want: [START, { name: 'signup' }],
  },
  {
    why: 'a browser that is to be ignored',
    before: `localStorage.setItem('tally_ignore', 'true')`,
    attributes: 'data-vitals data-engagement',
    then: [`tally('signup')`, go('pushState', '/b')],
    want: [],
  },
  {
    why: 'a browser that is no longer to be ignored',
    before: `localStorage.setItem('tally_ignore', 'false')`,
    want: [START],
  },
  {
    why: 'a browser whose storage is blocked',
    before: `Object.defineProperty(window, 'localStorage', { get() { throw new Error('denied') } })`,
    want: [START],
  },
  {
    why: 'a browser without sendBeacon',
    before: `delete Navigator.prototype.sendBeacon`,
    then: [`tally('signup')`],
    want: [START, { name: 'signup' }],
  },
  {
    why: 'an event too long for sendBeacon',
    then: [`tally('signup', { long: ${big} })`],
    want: [START, { name: 'signup', properties: { long: 'x'.repeat(100_000) } }],
  },
  {
    why: 'the script twice on a page',
    head: `<script defer src="COLLECTOR/tally.js" data-token="${TOKEN}"></script>`,
    then: [go('pushState', '/b')],
    want: [START, { name: 'pageview', at: '/b' }],
  },
  {
    why: 'an element of the page called tally',
    then: [],
    head: `<meta id="tally">`,
    want: [START],
  },
]
