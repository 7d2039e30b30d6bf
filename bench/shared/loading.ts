/** Creates events to load. They are created before the measurement starts. */
import { DAY_MS } from '../../src/lib/time.js'

/** The events of one measurement; `make` creates the nth. */
export interface Run {
  readonly name: string
  readonly events: number
  readonly make: (n: number) => Readonly<Record<string, unknown>>
}

export const START = Date.parse('2026-01-01T00:00:00Z')
/** When all events arrive. */
export const ARRIVAL = new Date(START + 366 * DAY_MS)
const COUNTRIES = ['DE', 'FR', 'US', 'GB', 'NL', 'BR', 'IN', 'JP']
const BROWSERS = ['Chrome', 'Safari', 'Firefox', 'Edge']

/** Spreads numbers over 0 to 1, the same in each run. */
const scatter = (n: number): number => ((n * 2_654_435_761) >>> 0) / 2 ** 32

/** An event with all fields. Sessions have eight events, in order of time; few users have many sessions. */
export const createFullEvent = (n: number): Readonly<Record<string, unknown>> => {
  const session = Math.floor(n / 8)
  const user = Math.floor(scatter(session) ** 3 * 50_000)
  return {
    timestamp: new Date(START + session * 1_200 + (n % 8) * 20_000).toISOString(),
    event_id: `e${n}`,
    name: n % 8 === 7 ? 'signup' : 'pageview',
    user_id: `user-${user}`,
    origin: 'https://example.com',
    path: `/articles/${Math.floor(scatter(n) ** 2 * 5_000)}`,
    country: COUNTRIES[user % 8],
    city: `City ${user % 500}`,
    browser: BROWSERS[user % 4],
    os: 'Windows',
    device_type: user % 3 === 0 ? 'mobile' : 'desktop',
    referrer: user % 5 === 0 ? 'Google' : '',
    referrer_type: user % 5 === 0 ? 'search' : 'direct',
    properties: { plan: user % 10 === 0 ? 'pro' : 'free' },
  }
}

/** One of 4,000 user agents: five browsers in many versions. */
const createUserAgent = (n: number): string => {
  const version = 100 + (n % 40)
  const build = Math.floor(n / 40) % 20
  const chrome = `AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.${build}.0`
  return [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36`,
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36 Edg/${version}.0.${build}.0`,
    `Mozilla/5.0 (X11; Linux x86_64; rv:${version}.${build}) Gecko/20100101 Firefox/${version}.${build}`,
    `Mozilla/5.0 (iPhone; CPU iPhone OS 18_${build} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/${version}.${build} Mobile/15E148 Safari/604.1`,
    `Mozilla/5.0 (Linux; Android 14; SM-S${version}) ${chrome} Mobile Safari/537.36`,
  ][Math.floor(n / 800) % 5]!
}

/** A third are a search engine, the others 2,000 sites. */
const createReferrerUrl = (n: number): string =>
  n % 3 === 0 ? 'https://www.google.com/' : `https://site-${n % 2_000}.example/posts/${n % 97}`

/** An event as browsers send it: attributes follow from its URLs, address and user agent. */
export const createBrowserEvent = (n: number): Readonly<Record<string, unknown>> => {
  const session = Math.floor(n / 8)
  const visitor = Math.floor(scatter(session) ** 3 * 50_000)
  return {
    timestamp: new Date(START + session * 1_200 + (n % 8) * 20_000).toISOString(),
    event_id: `d${n}`,
    url: `https://example.com/articles/${n % 5_000}?utm_source=news&utm_campaign=may+${n % 9}#top`,
    referrer_url: createReferrerUrl(session),
    ip: `10.${visitor >> 8}.${visitor & 255}.1`,
    user_agent: createUserAgent(visitor % 4_000),
  }
}

/** Creates the NDJSON of a run. */
export function createChunks({ events, make }: Run): readonly Buffer[] {
  const chunks: Buffer[] = []
  for (let from = 0; from < events; from += 10_000) {
    const count = Math.min(10_000, events - from)
    const lines = Array.from({ length: count }, (_, i) => `${JSON.stringify(make(from + i))}\n`)
    chunks.push(Buffer.from(lines.join('')))
  }
  return chunks
}

export async function* streamChunks(chunks: readonly Buffer[]): AsyncGenerator<Buffer> {
  for (const chunk of chunks) yield await Promise.resolve(chunk)
}
