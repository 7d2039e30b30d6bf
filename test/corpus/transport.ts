/** Requests that are wrong around the body: type, encoding, size, credentials, method, path. */
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import {
  EVENTS_PATH,
  events,
  invalid,
  label,
  query,
  QUERY_PATH,
  type Case,
  type Draft,
  type Want,
} from './case.js'

const QUERY = '{"date_range":"today"}'
const EVENT = '{"user_id":"u"}'
const refused = (status: number, code: string): Want => ({ status, code })
const UNSUPPORTED = refused(415, 'UNSUPPORTED_MEDIA_TYPE')
const TOO_LARGE = refused(413, 'PAYLOAD_TOO_LARGE')
const UNAUTHORIZED = refused(401, 'UNAUTHORIZED')

const TYPES: readonly (readonly [type: string, isJson: boolean])[] = [
  ...[
    'application/json',
    'APPLICATION/JSON',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
  ].map((type) => [type, true] as const),
  ...['application/json; charset="utf-8"', 'application/json ; charset=utf-8'].map(
    (type) => [type, true] as const,
  ),
  ...[
    'text/html',
    'application/xml',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
  ].map((type) => [type, false] as const),
  ...[
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'application/json5',
    'application/octet-stream',
  ].map((type) => [type, false] as const),
  ...[
    'application',
    'json',
    '*/*',
    'application/*',
    'image/png',
    'application/json; charset=utf-16',
  ].map((type) => [type, false] as const),
  ...[
    'application/json; charset=latin1',
    'application/json; charset=iso-8859-1',
    'application/problem+xml',
  ].map((type) => [type, false] as const),
]

const ENCODINGS: readonly (readonly [encoding: string, body: Buffer])[] = [
  ['gzip', gzipSync(QUERY)],
  ['br', brotliCompressSync(QUERY)],
  ['deflate', deflateSync(QUERY)],
  ['gzip, br', brotliCompressSync(gzipSync(QUERY))],
  ['x-gzip', gzipSync(QUERY)],
  ['GZIP', gzipSync(QUERY)],
  ['gzip;q=1', gzipSync(QUERY)],
  ['compress', Buffer.from(QUERY)],
  ['zstd', Buffer.from(QUERY)],
  ['aes128gcm', Buffer.from(QUERY)],
  ['gzip', gzipSync(Buffer.alloc(50_000_000))],
]

const padded = (bytes: number): string => `{"date_range":"today"}${' '.repeat(bytes - 22)}`
const SIZE_CASES: readonly Draft[] = [
  query('65,536 bytes', padded(65_536), 'ok'),
  query('65,537 bytes', padded(65_537), TOO_LARGE),
  query('1 MB', padded(1_000_000), TOO_LARGE),
  events('1,000 events', `[${Array(1_000).fill(EVENT).join()}]`, 'ok'),
  events('1,001 events', `[${Array(1_001).fill(EVENT).join()}]`, invalid()),
  events('no events', '[]', invalid()),
  events('2 MB', `${EVENT}${' '.repeat(2_000_000)}`, TOO_LARGE),
]

const KEYS = [
  ...[
    '',
    ' ',
    'Bearer',
    'Bearer ',
    'Basic dTpw',
    'Token x',
    'Bearer x',
    'Bearer null',
    'Bearer undefined',
  ],
  ...[
    'Bearer a.b.c',
    'Bearer ..',
    'Bearer =',
    'Bearer a b',
    'Bearer\tx',
    'Digest x',
    'Bearer x,y',
    ',',
    'Bearer "x"',
  ],
  ...[
    `Bearer ${'x'.repeat(8_000)}`,
    'Bearer eyJhbGciOiJub25lIn0.e30.',
    'Bearer th_',
    'Bearer ../x',
    'Bearer %00',
  ],
]

const withHeaders =
  (path: string, body: string, Authorization: string, name: string): Draft =>
  () => ({
    name: `${path}: ${name}`,
    path,
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      ...(Authorization === '' ? {} : { Authorization }),
    },
    body,
    want: UNAUTHORIZED,
  })

/** Changes one character of a credential. */
function alter(credential: string, at: number): string {
  const index = at < 0 ? credential.length + at : at
  const other = credential[index] === 'a' ? 'b' : 'a'
  return credential.slice(0, index) + other + credential.slice(index + 1)
}
const POSITIONS = [0, 1, 2, 5, 10, 20, -2, -3, -5, -10]
const CREDENTIAL_CASES: readonly Draft[] = [
  ...KEYS.flatMap((value) => [
    withHeaders(QUERY_PATH, QUERY, value, `Authorization ${label(value)}`),
    withHeaders(EVENTS_PATH, EVENT, value, `Authorization ${label(value)}`),
  ]),
  ...POSITIONS.flatMap((at): Draft[] => [
    (given) => ({
      ...query(
        `key altered at ${at}`,
        QUERY,
        UNAUTHORIZED,
      )({ ...given, key: alter(given.key, at) }),
    }),
    (given) => ({
      ...events(
        `token altered at ${at}`,
        EVENT,
        UNAUTHORIZED,
      )({ ...given, token: alter(given.token, at) }),
    }),
  ]),
  ({ key }) => events('an API key as the token', EVENT, UNAUTHORIZED)({ key, token: key }),
  ({ token }) => query('a token as the API key', QUERY, UNAUTHORIZED)({ key: token, token }),
  ({ key, token }) =>
    query('a key cut short', QUERY, UNAUTHORIZED)({ key: key.slice(0, -1), token }),
  ({ key, token }) =>
    events('a token cut short', EVENT, UNAUTHORIZED)({ key, token: token.slice(0, -1) }),
  ({ key, token }) => events('a token too long', EVENT, UNAUTHORIZED)({ key, token: `${token}a` }),
]

const METHODS = ['GET', 'PUT', 'PATCH', 'DELETE', 'PROPFIND']
const PATHS = [
  '/v1/events/',
  '/v1/Events',
  '/v1//events',
  '/v1/events.json',
  '/v1/event',
  '/v1/events%00',
  '/v1/%65vents',
]
const route =
  (name: string, method: string, path: string, want: Want): Draft =>
  ({ token }): Case => ({
    name,
    path,
    method,
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: method === 'GET' ? undefined : EVENT,
    want,
  })
const ROUTE_CASES: readonly Draft[] = [
  ...METHODS.map((method) =>
    route(`${method} of events`, method, EVENTS_PATH, refused(405, 'METHOD_NOT_ALLOWED')),
  ),
  ...PATHS.map((path) => route(`POST ${path}`, 'POST', path, refused(404, 'NOT_FOUND'))),
]

export const TRANSPORT_CASES: readonly Draft[] = [
  ...TYPES.map(([type, isJson]) =>
    query(`type ${type}`, QUERY, isJson ? 'ok' : UNSUPPORTED, { 'Content-Type': type }),
  ),
  ...ENCODINGS.map(([encoding, body]) =>
    query(`encoding ${encoding}`, body, UNSUPPORTED, { 'Content-Encoding': encoding }),
  ),
  query('encoding identity', QUERY, 'ok', { 'Content-Encoding': 'identity' }),
  ...SIZE_CASES,
  ...CREDENTIAL_CASES,
  ...ROUTE_CASES,
]
