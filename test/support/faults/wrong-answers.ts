/** The ways in which an answer of ClickHouse, or of what stands before it, can be wrong. */
import { gzipSync } from 'node:zlib'

/** Raw bytes of a response, and what follows them. */
export interface WrongAnswer {
  readonly head: string | undefined
  readonly chunks: readonly (string | Buffer)[]
  /** How the connection ends after them; `hangs` leaves it open. */
  readonly end: 'FIN' | 'RST' | 'hangs'
}

/** Text that must never reach a client of the API. */
export const SECRET = 'upstream-10.0.0.7'

/** The answer that is right, for a query with one column `n` and one row. */
const RIGHT = JSON.stringify({
  meta: [{ name: 'n', type: 'UInt8' }],
  data: [{ n: 1 }],
  rows: 1,
  rows_before_limit_at_least: 1,
  statistics: { elapsed: 0.001, rows_read: 1, bytes_read: 1 },
})
const [FIRST_HALF, SECOND_HALF] = [RIGHT.slice(0, 60), RIGHT.slice(60)]
const EXCEPTION = `Code: 241. DB::Exception: Query memory limit exceeded on ${SECRET}. (MEMORY_LIMIT_EXCEEDED) (version 26.7)`

const exception = (type: string, code = 999): string =>
  `Code: ${code}. DB::Exception: on ${SECRET}. (${type}) (version 26.7)`

interface Parts {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string | number>>
  readonly end?: WrongAnswer['end']
  readonly length?: number | null
}

/** Builds a response with a body. `length: null` means that the body ends with the connection. */
function respond(
  body: string | Buffer,
  { status = 200, headers = {}, end = 'FIN', length = Buffer.byteLength(body) }: Parts = {},
): WrongAnswer {
  const all = {
    Connection: 'close',
    ...headers,
    ...(length === null ? {} : { 'Content-Length': length }),
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return { head: `HTTP/1.1 ${status} X\r\n${lines.join('')}\r\n`, chunks: [body], end }
}

const chunked = (chunks: readonly string[], end: WrongAnswer['end']): WrongAnswer => ({
  head: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
  chunks: chunks.map((chunk) => `${Buffer.byteLength(chunk).toString(16)}\r\n${chunk}\r\n`),
  end,
})

const HTML = `<html><body><h1>502 Bad Gateway</h1>${SECRET}</body></html>`
const ZIPPED = gzipSync(RIGHT)
const AT_ONCE = 'SERVICE_UNAVAILABLE'

/** Each answer with the code of the API's error that a query gets. */
export const WRONG_ANSWERS: readonly (readonly [name: string, WrongAnswer, code: string])[] = [
  // A status of 200 and an error.
  [
    '200 with the header of an exception',
    respond(EXCEPTION, { headers: { 'X-ClickHouse-Exception-Code': 241 } }),
    'QUERY_TOO_EXPENSIVE',
  ],
  [
    '200 with the tag of an exception after half of the rows',
    respond(
      `${FIRST_HALF}\r\n__exception__\r\nabcd\r\n${EXCEPTION}\r\n90 abcd\r\n__exception__\r\n`,
      {
        headers: { 'X-ClickHouse-Exception-Tag': 'abcd' },
      },
    ),
    AT_ONCE,
  ],
  ['200 with an exception as text', respond(EXCEPTION), AT_ONCE],
  ['200 with an exception as a line', respond(`${EXCEPTION}\n`), AT_ONCE],
  ['200 with an exception after the rows', respond(`${RIGHT}\n${EXCEPTION}\n`), AT_ONCE],
  ['200 with a key "exception"', respond(RIGHT.replace('{', '{"exception":"x",')), AT_ONCE],
  // A status of 200 and less than everything.
  ['200 with an empty body', respond(''), AT_ONCE],
  ['200 with fewer rows than announced', respond(RIGHT.replace('{"n":1}', '')), AT_ONCE],
  ['200 without statistics', respond(RIGHT.replace('statistics', 'other')), AT_ONCE],
  ['200 with null', respond('null'), AT_ONCE],
  ['200 with a list', respond('[]'), AT_ONCE],
  [
    '200 with a Content-Length that is too short',
    respond(RIGHT, { length: 60, end: 'FIN' }),
    AT_ONCE,
  ],
  [
    '200 with a Content-Length that is too long',
    respond(RIGHT, { length: 999, end: 'FIN' }),
    AT_ONCE,
  ],
  [
    '200 whose body ends with the connection, cut',
    respond(FIRST_HALF, { length: null, end: 'FIN' }),
    AT_ONCE,
  ],
  ['200 in chunks, cut by FIN', chunked([FIRST_HALF], 'FIN'), AT_ONCE],
  ['200 in chunks, cut by RST', chunked([FIRST_HALF], 'RST'), AT_ONCE],
  ['200 in chunks, cut before the last one', chunked([FIRST_HALF, SECOND_HALF], 'FIN'), AT_ONCE],
  [
    '200 with cut gzip',
    respond(ZIPPED.subarray(0, 40), { headers: { 'Content-Encoding': 'gzip' } }),
    AT_ONCE,
  ],
  ['200 with bytes that are no text', respond(Buffer.from([0, 255, 254, 128])), AT_ONCE],
  ['200 with the page of a proxy', respond(HTML), AT_ONCE],
  // Something that is not HTTP, or nothing.
  ['no HTTP', { head: `SSH-2.0-${SECRET}\r\n`, chunks: [], end: 'FIN' }, AT_ONCE],
  ['no byte, FIN', { head: undefined, chunks: [], end: 'FIN' }, AT_ONCE],
  ['no byte, RST', { head: undefined, chunks: [], end: 'RST' }, AT_ONCE],
  ['half of the headers', { head: 'HTTP/1.1 200 OK\r\nContent-', chunks: [], end: 'FIN' }, AT_ONCE],
  // An error of what stands before ClickHouse.
  ['502 with a page', respond(HTML, { status: 502 }), AT_ONCE],
  ['503 with a page', respond(HTML, { status: 503 }), AT_ONCE],
  ['504 without a body', respond('', { status: 504 }), AT_ONCE],
  ['500 with a text', respond(`oops at ${SECRET}`, { status: 500 }), AT_ONCE],
  ['429 with a text', respond('slow down', { status: 429 }), AT_ONCE],
  ['401 with a text', respond('who are you', { status: 401 }), AT_ONCE],
  ['301', respond('', { status: 301, headers: { Location: `http://${SECRET}/` } }), AT_ONCE],
  // An error of ClickHouse.
  [
    '404, an unknown table',
    respond(exception('UNKNOWN_TABLE', 60), { status: 404 }),
    'INTERNAL_ERROR',
  ],
  ...[
    ['AUTHENTICATION_FAILED', AT_ONCE],
    ['QUOTA_EXCEEDED', AT_ONCE],
    ['TOO_MANY_PARTS', AT_ONCE],
    ['TOO_MANY_SIMULTANEOUS_QUERIES', AT_ONCE],
    ['ALL_CONNECTION_TRIES_FAILED', AT_ONCE],
    ['NETWORK_ERROR', AT_ONCE],
    ['TIMEOUT_EXCEEDED', 'QUERY_TIMEOUT'],
    ['TOO_MANY_ROWS', 'QUERY_TOO_EXPENSIVE'],
    ['LOGICAL_ERROR', 'INTERNAL_ERROR'],
  ].map(
    ([type = '', code = '']) =>
      [`500 ${type}`, respond(exception(type), { status: 500 }), code] as const,
  ),
  ...[
    ['Query memory limit exceeded: x', 'QUERY_TOO_EXPENSIVE'],
    ['Memory limit (for query) exceeded: x', 'QUERY_TOO_EXPENSIVE'],
    ['User memory limit exceeded: x', AT_ONCE],
    ['Memory limit (for user) exceeded: x', AT_ONCE],
    ['(total) memory limit exceeded: x', AT_ONCE],
    ['Memory limit (total) exceeded: x', AT_ONCE],
    [`Query memory limit exceeded: FUNCTION equals('(total)')`, 'QUERY_TOO_EXPENSIVE'],
  ].map(([message = '', code = '']) => {
    const body = `Code: 241. DB::Exception: ${message}. (MEMORY_LIMIT_EXCEEDED) (version 26.7)`
    return [`500 ${message}`, respond(body, { status: 500 }), code] as const
  }),
  // Silence.
  ['hangs before the headers', { head: undefined, chunks: [], end: 'hangs' }, 'QUERY_TIMEOUT'],
  ['hangs after the headers', respond('', { length: 100, end: 'hangs' }), 'QUERY_TIMEOUT'],
  [
    'hangs in the body',
    respond(FIRST_HALF, { length: RIGHT.length, end: 'hangs' }),
    'QUERY_TIMEOUT',
  ],
]
