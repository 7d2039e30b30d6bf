/** Reads access logs of web servers: each page that was served becomes a pageview. */
import { UTM_FIELDS } from '../../../model/event-fields.js'
import { markInvalid, SKIPPED_LINE } from '../../inbox/line-marks.js'
import { convertLines } from './convert-lines.js'
import { parseLogLine, type LogLine } from './log-line.js'

interface LogOptions {
  /** The origin of the site, e.g. `https://example.com`; logs do not name it. */
  readonly origin?: string | undefined
  /** Called for each line that is not a pageview. */
  readonly onSkipped: () => void
}

/** Statuses of a page that was served; with 304 the client shows its cached copy (RFC 9110 §15.4.5). */
const SERVED_STATUSES: ReadonlySet<number> = new Set([200, 304])

const ABSOLUTE_URL = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#]/

/** Converts each line of an access log to the line of a pageview, a skipped row or an invalid row. */
export function readLog(
  source: AsyncIterable<Buffer>,
  { origin, onSkipped }: LogOptions,
): AsyncGenerator<Buffer> {
  return convertLines(source, (text) => {
    const line = parseLogLine(text)
    if (line === undefined) {
      return markInvalid('is not a line of the Common or Combined Log Format', text)
    }
    const pageview = toPageview(line, origin)
    if (pageview !== undefined) return JSON.stringify(pageview)
    onSkipped()
    return SKIPPED_LINE
  })
}

/** Converts a log line to a pageview; returns undefined if the server did not serve a page. */
function toPageview(
  { host, timestamp, method, target, status, referrer, userAgent }: LogLine,
  origin: string | undefined,
): Readonly<Record<string, string | undefined>> | undefined {
  if (method !== 'GET' || !SERVED_STATUSES.has(status)) return undefined
  // A request to a proxy has the absolute form (RFC 9112 §3.2.2).
  const local = target.replace(/^https?:\/\/[^/?#]*/i, '')
  const [path = ''] = local.split(/[?#]/, 1)
  if (!path.startsWith('/') || isAsset(path)) return undefined
  return {
    timestamp,
    ip: host,
    user_agent: userAgent,
    referrer_url: referrer !== undefined && ABSOLUTE_URL.test(referrer) ? referrer : undefined,
    ...(origin === undefined ? { path, ...extractUtmFields(local) } : { url: `${origin}${local}` }),
  }
}

/** Extracts the utm values of a request target; missing and empty ones are left out. */
function extractUtmFields(target: string): Readonly<Record<string, string>> {
  const at = target.indexOf('?')
  if (at === -1 || !target.includes('utm_', at)) return {}
  const query = new URLSearchParams(target.slice(at).split('#', 1)[0])
  return Object.fromEntries(
    UTM_FIELDS.flatMap((name) => {
      const value = query.get(name)?.replaceAll('\0', '')
      return value ? [[name, value]] : []
    }),
  )
}

/** The extensions of files that are not pages. */
const ASSET_EXTENSIONS: ReadonlySet<string> = new Set(
  `
  avif bmp gif heic ico jpeg jpg png svg tif tiff webp
  css js map mjs wasm json xml txt csv webmanifest
  eot otf ttf woff woff2
  avi flv m4a m4v mov mp3 mp4 ogg swf wav webm wmv
  7z bz2 deb dmg exe gz iso jar pdf rar rpm tar tgz zip
  `
    .trim()
    .split(/\s+/),
)

/** Whether a path ends in the extension of a file that is not a page. */
function isAsset(path: string): boolean {
  const extension = /\.([A-Za-z0-9]+)$/.exec(path)?.[1]
  return extension !== undefined && ASSET_EXTENSIONS.has(extension.toLowerCase())
}
