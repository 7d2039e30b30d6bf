/** Reads access logs of web servers: pages that were served become pageviews. */
import { isAsset } from './assets.js'
import { convertLines } from './convert-lines.js'
import { parseLogLine, type LogLine } from './log-line.js'
import { PASSED_OVER, unfit } from './rows.js'

export interface LogOptions {
  /** Of the site, e.g. `https://example.com`; logs do not name it. */
  readonly origin?: string | undefined
  /** Is told of each line that is no pageview. */
  readonly onPassedOver: () => void
}

/** A page that was served: 304 says that the client had it already. */
const SERVED: ReadonlySet<number> = new Set([200, 304])

const UTM = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_content', 'utm_term'] as const
const ABSOLUTE_URL = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#]/

export function readLog(
  source: AsyncIterable<Buffer>,
  { origin, onPassedOver }: LogOptions,
): AsyncGenerator<Buffer> {
  return convertLines(source, (text) => {
    const line = parseLogLine(text)
    if (line === undefined) return unfit('is no line of the Common or Combined Log Format', text)
    const pageview = pageviewOf(line, origin)
    if (pageview !== undefined) return JSON.stringify(pageview)
    onPassedOver()
    return PASSED_OVER
  })
}

/** The event of a line; undefined where it is not that a page was served. */
export function pageviewOf(
  { host, timestamp, method, target, status, referrer, userAgent }: LogLine,
  origin: string | undefined,
): Readonly<Record<string, string | undefined>> | undefined {
  if (method !== 'GET' || !SERVED.has(status)) return undefined
  // A proxy is asked for the whole URL.
  const local = target.replace(/^https?:\/\/[^/?#]*/i, '')
  const [path = ''] = local.split(/[?#]/, 1)
  if (!path.startsWith('/') || isAsset(path)) return undefined
  return {
    timestamp,
    ip: host,
    user_agent: userAgent,
    referrer_url: referrer !== undefined && ABSOLUTE_URL.test(referrer) ? referrer : undefined,
    ...(origin === undefined ? { path, ...utmOf(local) } : { url: `${origin}${local}` }),
  }
}

/** The utm values of a query; those that are not there are absent. */
function utmOf(target: string): Readonly<Record<string, string>> {
  const at = target.indexOf('?')
  if (at === -1 || !target.includes('utm_', at)) return {}
  const query = new URLSearchParams(target.slice(at).split('#', 1)[0])
  return Object.fromEntries(
    UTM.flatMap((name) => {
      const value = query.get(name)?.replaceAll('\0', '')
      return value ? [[name, value]] : []
    }),
  )
}
