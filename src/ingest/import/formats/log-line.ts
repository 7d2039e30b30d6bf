/** Parses a line of the Common or the Combined Log Format. */

export interface LogLine {
  readonly host: string
  /** ISO 8601, with the UTC offset of the server. */
  readonly timestamp: string
  readonly method: string
  /** The target of the request line (RFC 9112 §3.2); empty if the logged text is not a request line. */
  readonly target: string
  readonly status: number
  /** Undefined in the Common Log Format; `-` if the client sent none. */
  readonly referrer: string | undefined
  readonly userAgent: string | undefined
}

/** A quoted text, in which `\` escapes the next character. */
const QUOTED = String.raw`"([^"\\]*(?:\\.[^"\\]*)*)"`
const LINE = new RegExp(
  String.raw`^(\S+) \S+ [^[]+ \[(\d\d)/([A-Z][a-z]{2})/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d\d)(\d\d)\] ` +
    String.raw`${QUOTED} (\d{3}|-) (?:\d+|-)(?: ${QUOTED} ${QUOTED}(?: .*)?)?\s*$`,
)
const REQUEST = /^(\S+) (.+?)(?: HTTP\/\d(?:\.\d)?)?$/

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/** Parses a line; returns undefined for a line of another form. Fields after the user agent are ignored. */
export function parseLogLine(line: string): LogLine | undefined {
  const match = LINE.exec(line)
  if (match === null) return undefined
  const [, host, day, month, year, time, hours, minutes, request, status, referrer, agent] = match
  const monthNumber = MONTHS.indexOf(month ?? '') + 1
  if (host === undefined || monthNumber === 0) return undefined
  const [, method = '', target = ''] = REQUEST.exec(request ?? '') ?? []
  return {
    host,
    timestamp: `${year}-${String(monthNumber).padStart(2, '0')}-${day}T${time}${hours}:${minutes}`,
    method,
    target: resolveEscapes(target),
    status: Number(status),
    referrer: referrer === undefined ? undefined : resolveEscapes(referrer),
    userAgent: agent === undefined ? undefined : resolveEscapes(agent),
  }
}

const HEX_BYTES = /(?:\\x[0-9A-Fa-f]{2})+/g
const ESCAPE = /\\(.)/g
const CONTROL_CHARACTERS: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
])

/** Resolves escapes. Escaped bytes that are not UTF-8, and NUL, become U+FFFD. */
function resolveEscapes(text: string): string {
  if (!text.includes('\\')) return text
  return text
    .split('\\\\')
    .map((part) =>
      part
        .replace(HEX_BYTES, (run) =>
          Buffer.from(run.replaceAll('\\x', ''), 'hex').toString().replaceAll('\0', '\ufffd'),
        )
        .replace(ESCAPE, (_, letter: string) => CONTROL_CHARACTERS.get(letter) ?? letter),
    )
    .join('\\')
}
