/** Events to be loaded: made ahead, so that making them is not measured. */

/** What one run sends: `make` gives the nth event of it. */
export interface Run {
  readonly name: string
  readonly events: number
  readonly make: (n: number) => Readonly<Record<string, unknown>>
}

export const START = Date.parse('2026-01-01T00:00:00Z')
/** When all of it arrives. */
export const ARRIVAL = new Date(START + 366 * 86_400_000)
const COUNTRIES = ['DE', 'FR', 'US', 'GB', 'NL', 'BR', 'IN', 'JP']
const BROWSERS = ['Chrome', 'Safari', 'Firefox', 'Edge']

/** Spread, and the same in every run. */
const scatter = (n: number): number => ((n * 2_654_435_761) >>> 0) / 2 ** 32

/** Sessions of eight events, in order of time; few users have many of them. */
export const explicit = (n: number): Readonly<Record<string, unknown>> => {
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

/** As a browser sends them: everything is to be taken from the URLs, the address and the agent. */
export const derived = (n: number): Readonly<Record<string, unknown>> => {
  const session = Math.floor(n / 8)
  const visitor = Math.floor(scatter(session) ** 3 * 50_000)
  return {
    timestamp: new Date(START + session * 1_200 + (n % 8) * 20_000).toISOString(),
    url: `https://example.com/articles/${n % 5_000}?utm_source=news&utm_campaign=may+${n % 9}#top`,
    referrer_url: 'https://www.google.com/',
    ip: `10.${visitor >> 8}.${visitor & 255}.1`.replace(/\.(\d{3,})\./, '.7.'),
    user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0',
  }
}

/** The bytes of a run. */
export function chunksOf({ events, make }: Run): readonly Buffer[] {
  const chunks: Buffer[] = []
  for (let from = 0; from < events; from += 10_000) {
    const count = Math.min(10_000, events - from)
    const lines = Array.from({ length: count }, (_, i) => `${JSON.stringify(make(from + i))}\n`)
    chunks.push(Buffer.from(lines.join('')))
  }
  return chunks
}

export async function* stream(chunks: readonly Buffer[]): AsyncGenerator<Buffer> {
  for (const chunk of chunks) yield await Promise.resolve(chunk)
}
