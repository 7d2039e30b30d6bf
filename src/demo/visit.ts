/** One visit of the demo: its pages, and what is done on them. */
import { chooseEntry, chooseLinked, chooseNext, ORIGIN, type Page, type Product } from './pages.js'
import type { Random } from './random.js'
import type { Source } from './sources.js'
import type { User } from './users.js'
import { chooser } from './weighted.js'

/** An event in the form of a line of a file. */
export interface DemoEvent {
  readonly timestamp: string
  readonly event_id: string
  readonly [field: string]: unknown
}

export interface Visit {
  /** Unlike that of any other visit. */
  readonly id: string
  /** Milliseconds since 1970. */
  readonly startAt: number
  readonly user: User
  readonly isFirst: boolean
  readonly source: Source
}

type Properties = Readonly<Record<string, string | number>>

const MEAN_PAUSE_S = 48
/** Well below the half hour after which a visit would be over. */
const LONGEST_PAUSE_S = 900
const MEAN_MORE_PAGES = 2.6

const chooseWords = chooser(
  ['tent', 'rain jacket', 'hiking boots', 'backpack', 'headlamp', 'gift card', 'ultralight'].map(
    (words, place) => ({ words, weight: 8 - place }),
  ),
)
const chooseMethod = chooser([
  { method: 'email', weight: 60 },
  { method: 'google', weight: 30 },
  { method: 'apple', weight: 10 },
])

/** All events of a visit, in order. The first one alone says where the visitor came from. */
export function eventsOf(visit: Visit, random: Random): readonly DemoEvent[] {
  const { user, source, isFirst } = visit
  const { place, device, plan } = user
  const events: DemoEvent[] = []
  let at = visit.startAt
  let path = ''
  let isKnown = plan !== undefined && !isFirst

  const add = (name: string | undefined, properties?: Properties): void => {
    const isEntry = events.length === 0
    const [page = '', hash] = path.split('#')
    const query = isEntry ? (source.query ?? '') : ''
    // What is undefined is not written as JSON.
    const event: DemoEvent = {
      timestamp: new Date(at).toISOString(),
      event_id: `${visit.id}-${events.length}`,
      name,
      user_id: user.id,
      anonymous: !isKnown,
      url: `${ORIGIN}${page}${query}${hash === undefined ? '' : `#${hash}`}`,
      country: place.country,
      city: place.city,
      browser: device.browser,
      os: device.os,
      device_type: device.device_type,
      properties,
    }
    events.push(isEntry ? { ...event, ...source.fields } : event)
    at += Math.floor(1_000 * Math.min(LONGEST_PAUSE_S, 2 + random.exponential(MEAN_PAUSE_S)))
  }
  const view = (next: string): void => {
    path = next
    add(undefined)
  }

  const entry = entryOf(source, random)
  view(entry.path)
  const signsUp = isFirst && plan !== undefined
  if (!signsUp && random.chance(source.bounces * (isKnown ? 0.8 : 1.1))) return events

  const cart: Product[] = []
  const more = 1 + Math.floor(random.exponential(MEAN_MORE_PAGES))
  for (let page: Page = entry, left = more; left > 0; left--) {
    if (page.product !== undefined && random.chance(0.2)) {
      cart.push(page.product)
      add('add_to_cart', { product: page.product.name, category: page.product.category })
    }
    if (random.chance(0.06)) {
      view('/search')
      add('search', { query: chooseWords(random).words, results: random.below(40) })
    }
    const next = chooseNext(random)
    if (next.path === path) continue
    page = next
    view(page.path)
  }
  if (signsUp) {
    view('/signup')
    isKnown = true
    add('signup', { plan, method: chooseMethod(random).method })
  }
  if (cart.length > 0 && random.chance(0.6)) checkOut()
  if (!signsUp && random.chance(0.03)) add('newsletter', { place: 'footer' })
  return events

  function checkOut(): void {
    view('/cart')
    view('/checkout')
    if (!random.chance(0.7)) return
    const amount = cart.reduce((sum, { price }) => sum + price, 0)
    const [first] = cart
    view('/checkout/thanks')
    add('purchase', {
      product: first?.name ?? '',
      category: first?.category ?? '',
      items: cart.length,
      amount,
      currency: 'EUR',
      plan: isKnown ? (plan ?? 'none') : 'none',
    })
  }
}

function entryOf({ landing, deep }: Source, random: Random): Page {
  if (landing !== undefined) return { path: landing, weight: 1 }
  return deep === true ? chooseLinked(random) : chooseEntry(random)
}
