/**
 * What pageviews of the demo measure: web vitals and engagement, of one in twenty visits. They are drawn from a generator of their
 * own, so the other events of a visit are the same with them and without.
 */
import { createRandom, type Random } from './random.js'
import type { DemoEvent, Visit } from './visit.js'

const SEED = 4
const MEASURED_SHARE = 0.05
/** The next page is opened that long after the last one was left. */
const UNLOAD_MS = 40
/** How long the last page of a visit is looked at, at most, in milliseconds. */
const LONGEST_LAST_MS = 600_000

/** What pages of a kind are like. */
interface PageKind {
  readonly path: RegExp
  /** The median of the LCP on a desktop, in milliseconds. */
  readonly lcp: number
  /** The mean of the CLS. */
  readonly cls: number
  /** The mean time on the last page of a visit, in seconds, and how much of a page is seen, in per cent. */
  readonly seconds: number
  readonly scrolled: number
}

/** The first that matches counts. */
const KINDS: readonly PageKind[] = [
  { path: /^\/products\/./, lcp: 1_650, cls: 0.05, seconds: 38, scrolled: 58 },
  { path: /^\/blog\/./, lcp: 1_150, cls: 0.02, seconds: 105, scrolled: 72 },
  { path: /^\/(products|sale|new|collections)/, lcp: 2_100, cls: 0.08, seconds: 30, scrolled: 64 },
  { path: /^\/(cart|checkout|signup)/, lcp: 900, cls: 0.01, seconds: 45, scrolled: 85 },
  { path: /^\/search/, lcp: 1_900, cls: 0.06, seconds: 20, scrolled: 50 },
  { path: /^\/$/, lcp: 1_500, cls: 0.04, seconds: 22, scrolled: 45 },
]
const OTHER_KIND: Omit<PageKind, 'path'> = { lcp: 1_200, cls: 0.02, seconds: 40, scrolled: 60 }

/** How much slower a device is than a desktop. */
const SLOWER: Readonly<Record<string, number>> = { mobile: 1.45, tablet: 1.2 }

/** The fields of a pageview that its pageleave has, too. */
const SHARED = 'user_id country region city language browser os device_type'.split(' ')

/** Returns the events of a visit, and after them its pageleaves, if it is one that measures. */
export function addPageleaves(visit: Visit, events: readonly DemoEvent[]): readonly DemoEvent[] {
  const random = createRandom(SEED, visit.startAt, visit.user.number)
  if (!random.chance(MEASURED_SHARE)) return events
  const pages = dividePages(events)
  const leaves = pages.map((page, i) =>
    createPageleave(page, pages[i + 1]?.[0], `${visit.id}-${events.length + i}`, random),
  )
  return [...events, ...leaves]
}

/** The events on a page: its pageview, and what followed before the next one. */
type EventsOfPage = readonly [view: DemoEvent, ...others: DemoEvent[]]

function dividePages(events: readonly DemoEvent[]): readonly EventsOfPage[] {
  const pages: [DemoEvent, ...DemoEvent[]][] = []
  for (const event of events) {
    if (event['name'] === undefined) pages.push([event])
    else pages.at(-1)?.push(event)
  }
  return pages
}

const readTime = ({ timestamp }: DemoEvent): number => Date.parse(timestamp)

/** Creates the pageleave of a page. @param next the pageview that follows; undefined for the last page of a visit */
function createPageleave(
  [view, ...others]: EventsOfPage,
  next: DemoEvent | undefined,
  id: string,
  random: Random,
): DemoEvent {
  const last = others.at(-1) ?? view
  const { origin, pathname, hash } = new URL(view['url'] as string)
  const kind = KINDS.find(({ path }) => path.test(pathname)) ?? OTHER_KIND
  const lastMs = Math.min(LONGEST_LAST_MS, 1_000 * (2 + random.exponential(kind.seconds)))
  const leftAt =
    next === undefined ? readTime(last) + Math.floor(lastMs) : readTime(next) - UNLOAD_MS
  // Some of the time, another tab or window is in front.
  const engagedMs = (leftAt - readTime(view)) * (0.6 + 0.4 * random.next())
  return {
    ...Object.fromEntries(SHARED.map((field) => [field, view[field]])),
    timestamp: new Date(leftAt).toISOString(),
    event_id: id,
    name: 'pageleave',
    anonymous: last['anonymous'],
    url: origin + pathname + hash,
    properties: {
      ...drawVitals(kind, String(view['device_type']), random),
      engaged_seconds: Math.round(engagedMs / 100) / 10,
      scroll_percent: Math.min(
        100,
        Math.round(15 + kind.scrolled * 2 * random.next() * random.next() + kind.scrolled / 2),
      ),
    },
  }
}

/** Draws the web vitals of a pageview: most are near the median, some are several times as large. */
function drawVitals(
  { lcp: median, cls: meanShift }: Omit<PageKind, 'path'>,
  device: string,
  random: Random,
): Readonly<Record<string, number>> {
  const slower = SLOWER[device] ?? 1
  const lcp = median * slower * spread(random, 0.45)
  const fcp = lcp * (0.45 + 0.4 * random.next())
  const ttfb = Math.min(fcp, 180 * slower * spread(random, 0.4))
  const inp = random.chance(0.7) ? { inp: Math.round(8 + 75 * slower * spread(random, 0.6)) } : {}
  const cls = random.chance(0.4) ? 0 : Math.round(10_000 * random.exponential(meanShift)) / 10_000
  return { lcp: Math.round(lcp), fcp: Math.round(fcp), ttfb: Math.round(ttfb), ...inp, cls }
}

/** Draws a factor around 1 from a log-normal distribution. @param deviation the standard deviation of its logarithm */
const spread = (random: Random, deviation: number): number =>
  Math.exp(
    deviation * Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next()),
  )
