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

/** 4,000 agents, of five browsers in many versions. */
const agent = (n: number): string => {
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

/** Every third is a search engine, the others are 2,000 sites. */
const referrer = (n: number): string =>
  n % 3 === 0 ? 'https://www.google.com/' : `https://site-${n % 2_000}.example/posts/${n % 97}`

/** As a browser sends them: everything is to be taken from the URLs, the address and the agent. */
export const derived = (n: number): Readonly<Record<string, unknown>> => {
  const session = Math.floor(n / 8)
  const visitor = Math.floor(scatter(session) ** 3 * 50_000)
  return {
    timestamp: new Date(START + session * 1_200 + (n % 8) * 20_000).toISOString(),
    event_id: `d${n}`,
    url: `https://example.com/articles/${n % 5_000}?utm_source=news&utm_campaign=may+${n % 9}#top`,
    referrer_url: referrer(session),
    ip: `10.${visitor >> 8}.${visitor & 255}.1`,
    user_agent: agent(visitor % 4_000),
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
