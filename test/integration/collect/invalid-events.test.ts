/** The error messages for invalid events: every field, invalid in every way. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { FieldError } from '../../../src/contract/api.js'
import { FIELDS } from '../../../src/model/event-fields.js'
import { NOW, startApp, type RunningApp } from '../http/harness.js'

let app: RunningApp
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

type Faults = Readonly<Record<string, string>>
type Case = readonly [body: unknown, faults: Faults]

const TIME =
  'must be an ISO 8601 timestamp with Z or a UTC offset, such as 2026-01-31T10:00:00.000Z'
const FAR = 'must lie between the years 1970 and 2099'
const AHEAD = 'must be at most 24 hours ahead of its arrival'
const URL = 'must be an absolute URL, such as https://example.com/path'
const COUNTRY = 'must be an ISO 3166-1 alpha-2 country code, such as DE'
const IP = 'must be an IPv4 or IPv6 address'
const TEXT = 'must not contain NUL characters or lone surrogates'
const UNKNOWN = 'is not a known property'
const NAMES = 'names must have 1 to 128 characters'
const HUGE = 'must hold no number beyond ±9007199254740991; send it as a string'
const DEEP = 'must be nested at most 100 deep'
const EVENTS = 'must be an event, an array of events, or an object with a list of events'

/** Sends a body and returns the errors of the response; none if it is accepted. */
async function faultsOf(body: unknown): Promise<readonly FieldError[]> {
  const before = app.collected.length
  const response = await app.collect(body)
  const answer = (await response.json()) as { error?: { details: readonly FieldError[] } }
  expect(response.status).toBe(answer.error === undefined ? 202 : 400)
  expect(app.collected.length - before).toBe(answer.error === undefined ? 1 : 0)
  return answer.error?.details ?? []
}

async function check(body: unknown, want: Faults): Promise<void> {
  const got = await faultsOf(body)
  const sorted = [...got].sort((a, b) => (a.field < b.field ? -1 : 1))
  expect(sorted).toEqual(
    Object.entries(want)
      .map(([field, message]) => ({ field, message }))
      .sort((a, b) => (a.field < b.field ? -1 : 1)),
  )
}

const named = (cases: readonly Case[]) =>
  cases.map(([body, faults]) => [label(body), body, faults] as const)
const label = (body: unknown): string =>
  (typeof body === 'string' ? body : JSON.stringify(body)).slice(0, 80)

const times = (texts: readonly string[], faults: Faults): readonly Case[] =>
  texts.map((timestamp) => [{ timestamp }, faults])

describe('timestamp', () => {
  const cases: readonly Case[] = [
    ...times(
      [
        '2026-02-30T10:00:00Z',
        '2026-02-29T10:00:00Z',
        '2026-04-31T10:00:00Z',
        '2026-13-01T10:00:00Z',
        '2026-00-01T10:00:00Z',
        '2026-01-00T10:00:00Z',
        '2026-01-32T10:00:00Z',
        '0000-01-01T10:00:00Z',
        '10000-01-01T10:00:00Z',
        '2026-01-31T24:00:00Z',
        '2026-01-31T10:60:00Z',
        '2026-01-31T10:00:60Z',
        '2026-01-31T10:00:00',
        '2026-01-31T10Z',
        '2026-01-31',
        '2026-01-31 10:00:00Z',
        '2026-01-31t10:00:00z',
        ' 2026-01-31T10:00:00Z',
        '2026-01-31T10:00:00Z\n',
        '2026-01-31T10:00:00+05',
        '2026-01-31T10:00:00+24:00',
        '2026-01-31T10:00:00+05:60',
        '2026-01-31T10:00:00.Z',
        '2026-01-31T10:00:00,5Z',
        '2026-01-31T10:00:00.1234567890Z',
        '1769853600',
        'now',
        '٢٠٢٦-01-31T10:00:00Z',
        '2026-01-31T10:00:00Z\0',
      ],
      { timestamp: TIME },
    ),
    ...times(
      [
        '1969-12-31T23:59:59.999Z',
        '1970-01-01T00:00:00+00:01',
        '1000-01-01T00:00:00Z',
        '2100-01-01T00:00:00Z',
        '2099-12-31T23:59:59-00:01',
        '9999-12-31T00:00:00Z',
      ],
      { timestamp: FAR },
    ),
    ...times(
      ['2026-03-11T12:00:00.001Z', '2026-03-11T12:00:00-00:01', '2099-12-31T23:59:59.999Z'],
      { timestamp: AHEAD },
    ),
    ...times(
      [
        '',
        '1970-01-01T00:00:00Z',
        '2024-02-29T23:59:59Z',
        '2026-03-11T12:00:00Z',
        '2026-03-11T13:00:00.000999999+01:00',
        '2026-01-31T10:00Z',
        '2026-01-31T10:00:00+05:30',
        '2026-01-31T10:00:00+0530',
        '2026-01-31T10:00:00-00:00',
        '2026-01-31T00:00:00+23:59',
        '2026-01-31T10:00:00.5Z',
        '2026-01-31T10:00:00.987654321Z',
      ],
      {},
    ),
    [{ timestamp: 1_769_853_600 }, { timestamp: 'must be a string' }],
    [{ timestamp: null }, {}],
  ]
  test.each(named(cases))('%s', (_, body, faults) => check(body, faults))
})

describe('values', () => {
  const cases: readonly Case[] = [
    [{ name: '' }, { name: 'must have at least 1 character' }],
    [{ name: 'a'.repeat(128) }, {}],
    [{ name: 'a'.repeat(129) }, { name: 'must have at most 128 characters' }],
    [{ name: '😀'.repeat(128) }, {}],
    [{ name: '😀'.repeat(129) }, { name: 'must have at most 128 characters' }],
    ...['/path', 'example.com/p', 'https://', 'https:///p', 'mailto:a@b.c', ' https://a.b'].map(
      (url): Case => [{ url }, { url: URL }],
    ),
    ...[
      'https://a',
      'http://a.b:8080',
      'app://host/x',
      'https://ü.de/ü?ü#ü',
      'http://[::1]/',
      'a://b#c\nd\u2028',
    ].map((url): Case => [{ url }, {}]),
    ...['Germany', 'de', 'D', 'DEU', 'D1', 'ÄÖ', ' DE', 'DE\n'].map((country): Case => [
      { country },
      { country: COUNTRY },
    ]),
    ...[
      '1.2.3',
      '1.2.3.256',
      '1.2.3.4:80',
      '01.2.3.4',
      ' 1.2.3.4',
      '::g',
      '[::1]',
      'fe80::1%a',
    ].map((ip): Case => [{ ip }, { ip: IP }]),
    ...['1.2.3.4', '::1', '2001:DB8::1', '::ffff:1.2.3.4'].map((ip): Case => [{ ip }, {}]),
    ...['user_id', 'session_id', 'event_id'].flatMap((field): readonly Case[] => [
      [{ [field]: '😀'.repeat(256) }, {}],
      [{ [field]: 'a'.repeat(257) }, { [field]: 'must have at most 256 characters' }],
    ]),
    ...['url', 'referrer_url'].flatMap((field): readonly Case[] => [
      [{ [field]: 'https://a/'.padEnd(8_192, 'b') }, {}],
      [
        { [field]: 'https://a/'.padEnd(8_193, 'b') },
        { [field]: 'must have at most 8192 characters' },
      ],
    ]),
    [{ url: '', country: '', ip: '', user_agent: '', referrer_url: '' }, {}],
    [{ Name: 'x' }, { Name: UNKNOWN }],
    [{ project: 'x' }, { project: UNKNOWN }],
    // The validator does not report the position of a property without a name.
    [{ '': 1 }, { body: UNKNOWN }],
    ['{"__proto__":{"name":"x"}}', { ['__proto__']: UNKNOWN }],
    [{ constructor: 1 }, { constructor: UNKNOWN }],
    [
      { name: '', url: 'x', country: 'x', ip: 'x', timestamp: '2100-01-01T00:00:00Z' },
      {
        name: 'must have at least 1 character',
        url: URL,
        country: COUNTRY,
        ip: IP,
        timestamp: FAR,
      },
    ],
  ]
  test.each(named(cases))('%s', (_, body, faults) => check(body, faults))
})

describe('types: every field with a value of every type; null is as good as absent', () => {
  const SAMPLES: readonly (readonly [type: string, value: unknown])[] = [
    ['string', 'x'],
    ['boolean', true],
    ['object', {}],
    ['array', []],
    ['number', 0],
  ]
  const WORDS = { string: 'a string', boolean: 'a boolean', object: 'an object' }
  const cases = [...FIELDS]
    .filter(([field]) => field !== 'project')
    .flatMap(([field, type]): readonly Case[] => [
      [{ [field]: null }, {}],
      ...SAMPLES.filter(([given]) => given !== type).map(([, value]): Case => [
        { [field]: value },
        { [field]: `must be ${WORDS[type]}` },
      ]),
    ])
  test.each(named(cases))('%s', (_, body, faults) => check(body, faults))
})

describe('text', () => {
  const texts = [...FIELDS].filter(
    ([field, type]) =>
      type === 'string' && !['project', 'timestamp', 'url', 'country', 'ip'].includes(field),
  )
  const cases: readonly Case[] = [
    ...texts.flatMap(([field]): readonly Case[] => [
      [{ [field]: 'a\0b' }, { [field]: TEXT }],
      [{ [field]: '\ud800' }, { [field]: TEXT }],
      [{ [field]: '\udc00\ud800' }, { [field]: TEXT }],
      [{ [field]: '😀\u2028\u202e\ufffd\\u0000' }, {}],
    ]),
    [{ url: 'https://a/\0' }, { url: URL }],
    [{ url: 'https://a/\ud800' }, { url: URL }],
  ]
  test.each(named(cases))('%s', (_, body, faults) => check(body, faults))
})

describe('properties', () => {
  const entries = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, n]))
  const nested = (depth: number, value = '0') =>
    `{"properties":{"a":${'['.repeat(depth)}${value}${']'.repeat(depth)}}}`
  const number = (text: string) => `{"properties":{"a":${text}}}`
  const cases: readonly Case[] = [
    [{ properties: {} }, {}],
    [{ properties: entries(64) }, {}],
    [{ properties: entries(65) }, { properties: 'must have at most 64 entries' }],
    [{ properties: { ['a'.repeat(128)]: 1 } }, {}],
    [{ properties: { ['a'.repeat(129)]: 1 } }, { properties: NAMES }],
    [{ properties: { ['😀'.repeat(128)]: 1 } }, {}],
    [{ properties: { ['😀'.repeat(129)]: 1 } }, { properties: NAMES }],
    [{ properties: { '': 1 } }, { properties: NAMES }],
    [{ properties: { 'a\0': 1 } }, { properties: `names ${TEXT}` }],
    ['{"properties":{"a\\ud800":1}}', { properties: `names ${TEXT}` }],
    [{ properties: { a: 'x\0' } }, { 'properties.a': TEXT }],
    ['{"properties":{"a":"\\ud800"}}', { 'properties.a': TEXT }],
    [{ properties: { a: { b: ['\0'] } } }, { 'properties.a': TEXT }],
    [{ properties: { a: { '\0': 1 } } }, { 'properties.a': TEXT }],
    [{ properties: { a: '', b: null, c: [1, { d: null }], constructor: true } }, {}],
    ['{"properties":{"__proto__":1,"a":2,"a":3}}', {}],
    ...['9007199254740991', '-9007199254740991', '0.1', '5e-324', '1e15', '-0', '1E+2'].map(
      (text): Case => [number(text), {}],
    ),
    ...['9007199254740992', '-9007199254740992', '18446744073709551616', '1e300', '1e400'].map(
      (text): Case => [number(text), { 'properties.a': HUGE }],
    ),
    [number('[{"b":1e400}]'), { 'properties.a': HUGE }],
    [nested(99), {}],
    [nested(100), { 'properties.a': DEEP }],
    [nested(5_000), { 'properties.a': DEEP }],
  ]
  test.each(named(cases))('%s', (_, body, faults) => check(body, faults))
})

describe('bodies', () => {
  const many = (count: number) => Array.from({ length: count }, () => ({ name: 'x' }))
  const cases: readonly Case[] = [
    ['', { body: 'is not valid JSON at line 1, column 1, where it ends' }],
    ['{', { body: 'is not valid JSON at line 1, column 2, where it ends' }],
    ['{} {}', { body: 'is not valid JSON at line 1, column 4' }],
    ['{"a":01}', { body: 'is not valid JSON at line 1, column 7' }],
    ['{"path":"a\tb"}', { body: 'is not valid JSON at line 1, column 9' }],
    ...['"x"', '1', 'null', 'true'].map((body): Case => [body, { body: EVENTS }]),
    ['{}', {}],
    ['\ufeff{}', {}],
    ['[]', { body: 'must have at least 1 item' }],
    [{ events: [] }, { events: 'must have at least 1 item' }],
    [{ events: {} }, { events: 'must be an array' }],
    [{ events: null }, { events: 'must be an array' }],
    [{ events: [{}], extra: 1 }, { extra: UNKNOWN }],
    [many(1_000), {}],
    [many(1_001), { body: 'must have at most 1000 items' }],
    [{ events: many(1_001) }, { events: 'must have at most 1000 items' }],
    [[{}, 5, null], { '1': 'must be an object', '2': 'must be an object' }],
    [[{}, [{}]], { '1': 'must be an object' }],
    [[{}, {}, {}, { url: 'x', ip: 1 }], { '3.url': URL, '3.ip': 'must be a string' }],
    [{ events: [{}, { properties: { 'a.b': 1e300 } }] }, { 'events.1.properties.a.b': HUGE }],
    [[{}, { token: 'public-token' }], { '1.token': UNKNOWN }],
    [[{ url: 'x' }], { '0.url': URL }],
  ]
  test.each(named(cases))('%s', (_, body, faults) => check(body, faults))

  test('invalid UTF-8', async () => {
    const body = Buffer.from('{"path":"|"}').map((byte) => (byte === 0x7c ? 0xff : byte))
    const response = await app.collect('', { body })
    expect([response.status, await response.json()]).toEqual([
      400,
      {
        error: {
          code: 'VALIDATION_ERROR',
          message: 'The request is not valid: body is not valid UTF-8.',
          details: [{ field: 'body', message: 'is not valid UTF-8' }],
          docs: '/docs/errors#validation_error',
        },
      },
    ])
  })

  test('at most 100 errors are listed, over all events', async () => {
    const response = await app.collect(Array.from({ length: 150 }, () => ({ url: 'x' })))
    const { error } = (await response.json()) as { error: { message: string; details: object[] } }
    expect(error.message).toBe(`The request is not valid: 0.url ${URL} (and 149 more).`)
    expect(error.details).toHaveLength(100)
    expect(error.details.at(-1)).toEqual({ field: '99.url', message: URL })
  })

  test.each([
    ['of one event', '{', '}', 'k0', 40_000],
    ['of an event among others', '[{},{', '}]', '1.k0', 40_000],
    ['beside a list', '{"events":[{}],', '}', 'k0', 40_000],
    ['of one event, just a few', '{"url":"x",', '}', 'k0', 3],
  ])('unknown fields %s', async (_, start, end, first, count) => {
    const fields = Array.from({ length: count }, (_field, n) => `"k${n}":1`).join(',')
    const faults = await faultsOf(start + fields + end)
    expect(faults[0]).toEqual({ field: first, message: UNKNOWN })
    expect(faults).toHaveLength(Math.min(100, count === 3 ? 4 : count))
  })

  test('no value of an event is quoted back', async () => {
    const secret = 's3cret-203.0.113.99'
    const response = await app.collect([{ ip: secret, url: secret, timestamp: secret }])
    expect(await response.text()).not.toContain(secret)
    expect(app.log()).not.toContain(secret)
  })
})

describe('the size of an event, with the address and id that the service adds', () => {
  const TOO_LARGE = 'must have at most 32 kB as JSON'
  /** An event of this number of bytes, none of whose values is truncated. */
  const filled = (bytes: number) => {
    const values = Array.from({ length: 32 }, (_, n) => [`p${n}`, 'x'.repeat(1_000)])
    const event = {
      event_id: 'e',
      ip: '::1',
      user_agent: 'a',
      properties: { ...Object.fromEntries(values), rest: '' } as object,
    }
    const rest = 'x'.repeat(bytes - JSON.stringify(event).length)
    return { ...event, properties: { ...event.properties, rest } }
  }
  const cases: readonly Case[] = [
    [filled(32_768), {}],
    [filled(32_769), { body: TOO_LARGE }],
    [[{}, filled(32_769), filled(32_768), filled(33_000)], { '1': TOO_LARGE, '3': TOO_LARGE }],
    [{ ...filled(32_768), event_id: undefined }, { body: TOO_LARGE }],
    [{ path: 'ü'.repeat(20_000), properties: { a: 'x'.repeat(50_000) } }, {}],
  ]
  test.each(named(cases))('%s', (_, body, faults) => check(body, faults))
})

describe('the age of an event', () => {
  const OLD = 'must be at most 30 days before its arrival; import older events from a file'
  const PAGE = 'must be within 15 minutes of its arrival if a page sends it; leave it out'
  let limited: RunningApp
  beforeAll(async () => {
    limited = await startApp({ maxEventAgeDays: 30 })
  })
  afterAll(() => limited.stop())

  test.each<[sender: 'page' | 'server', timestamp: string, want: string]>([
    ['server', '2026-02-08T12:00:00.000Z', ''],
    ['server', '2026-02-08T11:59:59.999Z', OLD],
    ['server', '1970-01-01T00:00:00Z', OLD],
    ['server', '1969-12-31T23:59:59Z', FAR],
    ['server', '2026-03-11T12:00:00Z', ''],
    ['server', '2026-03-11T12:00:00.001Z', AHEAD],
    ['page', '2026-03-10T11:45:00.000Z', ''],
    ['page', '2026-03-10T11:44:59.999Z', PAGE],
    ['page', '2026-03-10T12:15:00.000Z', ''],
    ['page', '2026-03-10T12:15:00.001Z', PAGE],
    ['page', '1970-01-01T00:00:00Z', PAGE],
    ['page', '2100-01-01T00:00:00Z', FAR],
  ])('from a %s, %s: "%s"', async (sender, timestamp, want) => {
    const headers: Record<string, string> =
      sender === 'page' ? { Origin: 'https://shop.example' } : {}
    const response = await limited.collect([{}, { timestamp }], { headers })
    const { error } = (await response.json()) as { error?: { details: readonly FieldError[] } }
    expect([response.status, error?.details]).toEqual(
      want === '' ? [202, undefined] : [400, [{ field: '1.timestamp', message: want }]],
    )
  })
})

test('the address and time that the service adds are always valid', async () => {
  await app.collect({ name: 'x', timestamp: NOW.toISOString() })
  expect(app.collected.at(-1)).toMatchObject({ projectId: 'project-1', receivedAt: NOW })
})
