/** Generates the events of one visit of the demo. */
import { chooseEntry, chooseLinked, chooseNext, ORIGIN, type Page, type Product } from './pages.js'
import type { Random } from './random.js'
import type { Source } from './sources.js'
import type { User } from './users.js'
import { createChooser } from './weighted.js'

/** An event, in the format of an import file. */
export interface DemoEvent {
  readonly timestamp: string
  readonly event_id: string
  readonly [field: string]: unknown
}

export interface Visit {
  /** Unique among all visits. */
  readonly id: string
  /** Milliseconds since 1970. */
  readonly startAt: number
  readonly user: User
  /** Whether it is the user's first visit. */
  readonly isFirst: boolean
  readonly source: Source
}

type Properties = Readonly<Record<string, string | number>>

const MEAN_PAUSE_S = 48
/** Well below the 30 minutes after which a session ends. */
const MAX_PAUSE_S = 900
/** The mean of the distribution that the number of further pages is drawn from; one page is added to it. */
const MEAN_MORE_PAGES = 2.6

const chooseSearch = createChooser(
  ['tent', 'rain jacket', 'hiking boots', 'backpack', 'headlamp', 'gift card', 'ultralight'].map(
    (query, i) => ({ query, weight: 8 - i }),
  ),
)
const chooseSignupMethod = createChooser([
  { method: 'email', weight: 60 },
  { method: 'google', weight: 30 },
  { method: 'apple', weight: 10 },
])

const chooseForm = createChooser([
  { place: 'footer', weight: 55 },
  { place: 'article', weight: 30 },
  { place: 'product', weight: 15 },
])

/** Currencies by country; elsewhere people pay in euros. */
const CURRENCIES: Readonly<Record<string, string>> = { US: 'USD', GB: 'GBP', CA: 'CAD', CH: 'CHF' }

/** Collects the events of a visit; each event advances the clock by a random pause. */
interface Recorder {
  readonly events: readonly DemoEvent[]
  /** Records a pageview. @param path with the hash, if any */
  view(path: string): void
  /** Records a custom event on the current page. */
  track(name: string, properties: Properties): void
  /** Path and hash of the current page. */
  getPath(): string
  /** Makes the user known: later events are not anonymous. */
  identify(): void
  isIdentified(): boolean
}

function createRecorder(visit: Visit, random: Random): Recorder {
  const { user, source } = visit
  const { language } = user
  const { country, region, city } = user.place
  const { browser, os, device_type } = user.device
  const events: DemoEvent[] = []
  let at = visit.startAt
  let path = ''
  let isIdentified = user.plan !== undefined && !visit.isFirst

  const add = (name: string | undefined, properties?: Properties): void => {
    const isEntry = events.length === 0
    // JSON.stringify() leaves out the fields that are undefined.
    const event: DemoEvent = {
      timestamp: new Date(at).toISOString(),
      event_id: `${visit.id}-${events.length}`,
      name,
      user_id: user.id,
      anonymous: !isIdentified,
      url: buildUrl(path, isEntry ? source.query : undefined),
      ...{ country, region, city, language, browser, os, device_type },
      properties,
    }
    events.push(isEntry ? { ...event, ...source.fields } : event)
    at += Math.floor(1_000 * Math.min(MAX_PAUSE_S, 2 + random.exponential(MEAN_PAUSE_S)))
  }

  return {
    events,
    view(next) {
      path = next
      add(undefined)
    },
    track: add,
    getPath: () => path,
    identify() {
      isIdentified = true
    },
    isIdentified: () => isIdentified,
  }
}

function buildUrl(path: string, query = ''): string {
  const [page = '', hash] = path.split('#')
  return `${ORIGIN}${page}${query}${hash === undefined ? '' : `#${hash}`}`
}

/**
 * Generates all events of a visit, in order. Only the first one carries the source. The order of the draws from
 * `random` is part of the result: another order gives other events.
 */
export function generateVisit(visit: Visit, random: Random): readonly DemoEvent[] {
  const { user, source, isFirst } = visit
  const recorder = createRecorder(visit, random)
  const entry = chooseEntryPage(source, random)
  recorder.view(entry.path)
  const plan = isFirst ? user.plan : undefined
  const bounces = source.bounces * (recorder.isIdentified() ? 0.8 : 1.1)
  if (plan === undefined && random.chance(bounces)) return recorder.events

  const cart = browse(recorder, entry, random)
  if (plan !== undefined) signUp(recorder, plan, random)
  else if (!recorder.isIdentified() && random.chance(0.09)) giveUpSigningUp(recorder, random)
  if (cart.length > 0 && random.chance(0.6)) checkOut(recorder, cart, user, random)
  if (plan === undefined && random.chance(0.03)) {
    recorder.track('newsletter', { place: chooseForm(random).place })
  }
  return recorder.events
}

function chooseEntryPage({ landing, deep }: Source, random: Random): Page {
  if (landing !== undefined) return { path: landing, weight: 1 }
  return deep === true ? chooseLinked(random) : chooseEntry(random)
}

/** Views further pages; returns the products that were added to the cart. */
function browse(recorder: Recorder, entry: Page, random: Random): readonly Product[] {
  const cart: Product[] = []
  const more = 1 + Math.floor(random.exponential(MEAN_MORE_PAGES))
  for (let page = entry, left = more; left > 0; left--) {
    if (page.product !== undefined && random.chance(0.2)) {
      const { name: product, category } = page.product
      cart.push(page.product)
      recorder.track('add_to_cart', { product, category })
    }
    if (random.chance(0.06)) {
      recorder.view('/search')
      const { query } = chooseSearch(random)
      recorder.track('search', { query, results: random.below(40) })
    }
    const next = chooseNext(random)
    if (next.path === recorder.getPath()) continue
    page = next
    recorder.view(page.path)
  }
  return cart
}

/** Signs up: most visitors read about the membership first. */
function signUp(recorder: Recorder, plan: string, random: Random): void {
  if (random.chance(0.7) && recorder.getPath() !== '/membership') recorder.view('/membership')
  recorder.view('/signup')
  recorder.track('signup_start', {})
  recorder.identify()
  recorder.track('signup', { plan, method: chooseSignupMethod(random).method })
}

/** Begins to sign up, and leaves at one of the steps. */
function giveUpSigningUp(recorder: Recorder, random: Random): void {
  if (recorder.getPath() !== '/membership') recorder.view('/membership')
  if (random.chance(0.45)) return
  recorder.view('/signup')
  if (random.chance(0.5)) recorder.track('signup_start', {})
}

/** Opens the checkout; seven of ten visitors complete it. */
function checkOut(recorder: Recorder, cart: readonly Product[], user: User, random: Random): void {
  recorder.view('/cart')
  recorder.view('/checkout')
  if (!random.chance(0.7)) return
  recorder.view('/checkout/thanks')
  recorder.track('purchase', {
    product: cart[0]?.name ?? '',
    category: cart[0]?.category ?? '',
    items: cart.length,
    amount: cart.reduce((sum, { price }) => sum + price, 0),
    currency: CURRENCIES[user.place.country] ?? 'EUR',
    plan: recorder.isIdentified() ? (user.plan ?? 'none') : 'none',
  })
}
