/** Takes a line of the Common or the Combined Log Format apart. */

export interface LogLine {
  readonly host: string
  /** ISO 8601 with the offset of the server. */
  readonly timestamp: string
  readonly method: string
  /** What was asked for, as it stands in the request line; empty for what is no request. */
  readonly target: string
  readonly status: number
  /** Undefined in the Common Log Format; else `-` where the client sent none. */
  readonly referrer: string | undefined
  readonly userAgent: string | undefined
}

/** What stands in quotes, in which `\` escapes the next character. */
const QUOTED = String.raw`"([^"\\]*(?:\\.[^"\\]*)*)"`
const LINE = new RegExp(
  String.raw`^(\S+) \S+ [^[]+ \[(\d\d)/([A-Z][a-z]{2})/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d\d)(\d\d)\] ` +
    String.raw`${QUOTED} (\d{3}|-) (?:\d+|-)(?: ${QUOTED} ${QUOTED}(?: .*)?)?\s*$`,
)
const REQUEST = /^(\S+) (.+?)(?: HTTP\/\d(?:\.\d)?)?$/

const MONTHS: readonly string[] = [
  ...['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'],
]

/** The parts of a line; undefined where it is none of a log. Fields behind the user agent are ignored. */
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
    target: unescaped(target),
    status: Number(status),
    referrer: referrer === undefined ? undefined : unescaped(referrer),
    userAgent: agent === undefined ? undefined : unescaped(agent),
  }
}

const BYTES = /(?:\\x[0-9A-Fa-f]{2})+/g
const ESCAPE = /\\(.)/g
const CONTROLS: ReadonlyMap<string, string> = new Map([
  ...[['n', '\n'] as const, ['r', '\r'] as const, ['t', '\t'] as const],
])

/** Text without its escapes; bytes that are no UTF-8, or NUL, become U+FFFD. */
function unescaped(text: string): string {
  if (!text.includes('\\')) return text
  return text
    .split('\\\\')
    .map((part) =>
      part
        .replace(BYTES, (run) =>
          Buffer.from(run.replaceAll('\\x', ''), 'hex').toString().replaceAll('\0', '\ufffd'),
        )
        .replace(ESCAPE, (_, letter: string) => CONTROLS.get(letter) ?? letter),
    )
    .join('\\')
}
