/** The reasons of invalid rows: every field of an event, invalid in every way. */
import { expect, test } from '@jest/globals'
import { FIELDS } from '../../../../src/model/event-fields.js'
import type { Rejection } from '../../../../src/ingest/inbox/rejections.js'
import { withDatabase } from '../../../support/store/database.js'
import { ARRIVAL, newProject } from '../../../support/world/world.js'
import { importEvents } from '../../../support/store/loading.js'

const AT = '2026-01-31T10:00:00Z'
const WRONG_TIME = 'timestamp: must be ISO 8601 with Z or an offset, as 2026-01-31T10:00:00.000Z'
const FAR_TIME = 'timestamp: must lie between the years 1970 and 2099'
const WRONG_URL = 'url: must be absolute, as https://example.com/path'
const WRONG_COUNTRY = 'country: must be an ISO 3166-1 alpha-2 code, as DE'
const WRONG_IP = 'ip: must be an IP address'
const WRONG_NAME = 'name: must have 1 to 128 characters'
const WRONG_PROPERTY = 'properties: names must have 1 to 128 characters'
const NUL = 'must not contain the character NUL'
const NO_JSON = 'is not valid JSON'
const NO_OBJECT = 'is not a JSON object'
const NO_UTF8 = 'is not valid UTF-8'
const HUGE = 'is not valid JSON, or holds a number that is too large'
const TOO_LARGE = 'must have at most 32 kB as JSON'
const FINE = ''

type Case = readonly [line: string | Buffer, reason: string]

const event = (fields: object): string => JSON.stringify({ timestamp: AT, ...fields })
const time = (timestamp: unknown): string => JSON.stringify({ timestamp })
/** Writes a line with this text between the quotes of its path. */
const raw = (path: string): string => `{"timestamp":"${AT}","path":"${path}"}`

const TIMES: readonly Case[] = [
  ...[
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
    '2026-01-31T25:00:00Z',
    '2026-01-31T10:60:00Z',
    '2026-01-31T10:00:60Z',
    '2026-01-31T10Z',
    ' 2026-01-31T10:00:00Z',
    '2026-01-31T10:00:00Z ',
    '2026-01-31T10:00:00ZZ',
    '2026-01-31T10:00:00+24:00',
    '2026-01-31T10:00:00+05:60',
    '2026-01-31T10:00:00.Z',
    '2026-01-31T10:00:00.1234567890Z',
    '20260131T100000Z',
    '17698536',
    '1769853600000000000',
    'now',
    '٢٠٢٦-01-31T10:00:00Z',
  ].map((text) => [time(text), WRONG_TIME] as const),
  ...[
    '1969-12-31T23:59:59.999Z',
    '1970-01-01T00:00:00+00:01',
    '1000-01-01T00:00:00Z',
    '2100-01-01T00:00:00Z',
    '2099-12-31T23:59:59-00:01',
    '9999-12-31T00:00:00Z',
  ].map((text) => [time(text), FAR_TIME] as const),
  ...[
    '1769853600',
    '1970-01-01T00:00:00Z',
    '2099-12-31T23:59:59.999Z',
    '2024-02-29T23:59:59Z',
    '2026-01-31T10:00Z',
    '2026-01-31T10:00:00+05:30',
    '2026-01-31T10:00:00+0530',
    '2026-01-31T10:00:00-00:00',
    '2026-01-31T00:00:00+23:59',
    ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map(
      (digits) => `2026-01-31T10:00:00.${'987654321'.slice(0, digits)}Z`,
    ),
  ].map((text) => [time(text), FINE] as const),
  [time(1_769_853_600), FINE],
  [time(true), 'timestamp: must be a string'],
  ['{}', 'timestamp: is required'],
  [time(null), 'timestamp: is required'],
  [time(''), 'timestamp: is required'],
]

const VALUES: readonly Case[] = [
  [event({ name: '' }), WRONG_NAME],
  [event({ name: 'a'.repeat(128) }), FINE],
  [event({ name: 'a'.repeat(129) }), WRONG_NAME],
  [event({ name: '😀'.repeat(128) }), FINE],
  [event({ name: '😀'.repeat(129) }), WRONG_NAME],
  ...['/path', 'example.com/path', 'https://', 'https:///path', 'mailto:a@b.c', ' https://a.b'].map(
    (url) => [event({ url }), WRONG_URL] as const,
  ),
  ...['https://a', 'http://a.b:8080', 'app://host/x', 'https://ü.de/ü?ü#ü', 'http://[::1]/'].map(
    (url) => [event({ url }), FINE] as const,
  ),
  ...['Germany', 'de', 'D', 'DEU', 'D1', 'ÄÖ', ' DE'].map(
    (country) => [event({ country }), WRONG_COUNTRY] as const,
  ),
  [event({ country: 'DE' }), FINE],
  ...['1.2.3', '1.2.3.256', '1.2.3.4:80', '01.2.3.4', ' 1.2.3.4', '::g', '[::1]', 'localhost'].map(
    (ip) => [event({ ip }), WRONG_IP] as const,
  ),
  ...['1.2.3.4', '::1', '2001:DB8::1', '::ffff:1.2.3.4'].map(
    (ip) => [event({ ip }), FINE] as const,
  ),
  ...['user_id', 'session_id', 'event_id'].flatMap((field): readonly Case[] => [
    [event({ [field]: 'a'.repeat(256) }), FINE],
    [event({ [field]: '😀'.repeat(256) }), FINE],
    [event({ [field]: 'a'.repeat(257) }), `${field}: must have at most 256 characters`],
  ]),
  ...['url', 'referrer_url'].flatMap((field): readonly Case[] => [
    [event({ [field]: 'https://a/'.padEnd(8_192, 'b') }), FINE],
    [
      event({ [field]: 'https://a/'.padEnd(8_193, 'b') }),
      `${field}: must have at most 8192 characters`,
    ],
  ]),
  [event({ user_agent: 'Mozilla/5.0 Firefox/140.0 '.padEnd(20_000, 'a') }), FINE],
  [event({ properties: entries(64) }), FINE],
  [event({ properties: entries(65) }), 'properties: must have at most 64 entries'],
  [event({ properties: { ['a'.repeat(128)]: 1 } }), FINE],
  [event({ properties: { ['a'.repeat(129)]: 1 } }), WRONG_PROPERTY],
  [event({ properties: { ['😀'.repeat(128)]: 1 } }), FINE],
  [event({ properties: { '': 1 } }), WRONG_PROPERTY],
  [event({ properties: {} }), FINE],
  [event({ properties: { a: [1, { b: null }], __proto__: 1, constructor: true } }), FINE],
  [`{"timestamp":"${AT}","properties":{"a":1,"a":2}}`, FINE],
  [event({ Name: 'x' }), 'Name: is not a known field'],
  [event({ '': 1 }), ': is not a known field'],
  [event({ name: 1, extra: null }), 'name: must be a string; extra: is not a known field'],
  [
    event({ name: '', url: 'x', country: 'x', ip: 'x' }),
    [WRONG_NAME, WRONG_URL, WRONG_COUNTRY, WRONG_IP].join('; '),
  ],
]

function entries(count: number): object {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, n]))
}

/** Every field with a value of every type; null counts as absent. */
const SAMPLES: readonly (readonly [type: string, value: unknown])[] = [
  ['string', 'x'],
  ['boolean', true],
  ['boolean', false],
  ['object', {}],
  ['array', []],
  ['number', 0],
  ['number', -1.5],
]
const A_TYPE = { string: 'a string', boolean: 'a boolean', object: 'an object' }
const TYPES: readonly Case[] = [...FIELDS]
  .filter(([name]) => name !== 'timestamp')
  .flatMap(([name, type]) => [
    [event({ [name]: null }), FINE] as const,
    ...SAMPLES.filter(([given]) => given !== type).map(
      ([, value]) => [event({ [name]: value }), `${name}: must be ${A_TYPE[type]}`] as const,
    ),
  ])

const LINES: readonly Case[] = [
  ...['{', '}', 'nonsense', '{"a":1', '{a:1}', "{'a':1}", '{} {}', '{},', '{"a":01}', '﻿﻿{}'].map(
    (line) => [line, NO_JSON] as const,
  ),
  ...['[]', '"x"', '1', 'null', 'true', `[${event({})}]`].map((line) => [line, NO_OBJECT] as const),
  [raw('a\\u0000b'), NUL],
  [raw('a\\\\\\u0000b'), NUL],
  [raw('a\\\\u0000b'), FINE],
  [event({ properties: { 'a\0': 1 } }), NUL],
  [raw('a\0b'), NO_JSON],
  [raw('a\tb'), NO_JSON],
  [raw('\\ud83d'), NO_JSON],
  [raw('\\ude00\\ud83d'), NO_JSON],
  [raw('\\ud83d\\ude00'), FINE],
  [Buffer.concat([Buffer.from(raw('|'))].map(withByte(0xff))), NO_UTF8],
  [Buffer.concat([Buffer.from(raw('|'))].map(withByte(0xc3))), NO_UTF8],
  [raw('x'.repeat(32_768 - raw('').length)), FINE],
  [raw('x'.repeat(32_769 - raw('').length)), TOO_LARGE],
  [raw('x'.repeat(1_000_000)), TOO_LARGE],
  [`${event({})}\r`, FINE],
  [`  ${event({})}\t `, FINE],
  [`\uFEFF${event({})}`, FINE],
  [`{"timestamp":"${AT}","properties":{"n":1e400}}`, HUGE],
  [`{"timestamp":"${AT}","properties":{"n":123456789012345678901234567890}}`, HUGE],
  [`{"timestamp":"${AT}","properties":{"n":${'['.repeat(500)}${']'.repeat(500)}}}`, FINE],
  [`{"timestamp":"${AT}","properties":{"n":${'['.repeat(2_000)}${']'.repeat(2_000)}}}`, NO_JSON],
]

/** Replaces the bar by a byte that is not valid UTF-8. */
function withByte(byte: number): (bytes: Buffer) => Buffer {
  return (bytes) => Buffer.from(bytes.map((one) => (one === 0x7c ? byte : one)))
}

const database = withDatabase()

async function sendLines(lines: readonly (string | Buffer)[], projectId?: string, now = ARRIVAL) {
  const rejections: Rejection[] = []
  async function* source(): AsyncGenerator<Buffer> {
    for (const line of lines) {
      yield await Promise.resolve(Buffer.concat([Buffer.from(line), Buffer.from('\n')]))
    }
  }
  const report = await importEvents(database.store, source(), {
    ...(projectId === undefined ? {} : { projectId }),
    now,
    onRejected: (rows) => void rejections.push(...rows),
  })
  return { report, rejections }
}

test.each([
  { what: 'timestamps', cases: TIMES },
  { what: 'values', cases: VALUES },
  { what: 'types', cases: TYPES },
  { what: 'lines', cases: LINES },
])(
  '$what: each invalid row is rejected with its reason, each valid one is loaded',
  async ({ cases }) => {
    const { id } = await newProject(database.store)
    const { report, rejections } = await sendLines(
      cases.map(([line]) => line),
      id,
    )
    const wrong = cases.flatMap(([line, reason], i) =>
      reason === FINE ? [] : [{ row: i + 1, reason, line: line.toString() }],
    )
    expect(rejections).toEqual(wrong)
    expect(report).toMatchObject({
      received: cases.length,
      events: cases.length - wrong.length,
      duplicates: 0,
      bots: 0,
      excluded: 0,
      rejected: wrong.length,
    })
  },
)

test('row numbers are line numbers of the source, blank lines included', async () => {
  const { id } = await newProject(database.store)
  const { report, rejections } = await sendLines(['', 'a', ' \t\r', event({}), '', 'b', ''], id)
  expect(rejections).toEqual([
    { row: 2, reason: NO_JSON, line: 'a' },
    { row: 6, reason: NO_JSON, line: 'b' },
  ])
  expect(report.received).toBe(3)
})

test('a row names its project, unless the import names one for all rows', async () => {
  const [one, other] = [await newProject(database.store), await newProject(database.store)]
  const lines = [
    event({ project: one.id }),
    event({ project: other.id }),
    event({ project: 'nobody' }),
    event({ project: '' }),
    event({}),
  ]
  expect((await sendLines(lines)).rejections.map(({ reason }) => reason)).toEqual([
    'project: there is no project nobody',
    'project: is required where no project is named for all rows',
    'project: is required where no project is named for all rows',
  ])
  const { report } = await sendLines(lines, one.id)
  expect(report).toMatchObject({ events: 5, rejected: 0 })
})

test('strict: a rejected row keeps its whole chunk out, and ends the import', async () => {
  const { id } = await newProject(database.store)
  const rejected: Rejection[] = []
  const lines = ['a', 'b', 'c'].map((event_id) => event({ event_id })) as [string, string, string]
  async function* source(): AsyncGenerator<Buffer> {
    yield await Promise.resolve(Buffer.from(`${lines[0]}\n${lines[1]}\nx\n${lines[2]}\n`))
    throw new Error('is read no further')
  }
  const report = await importEvents(database.store, source(), {
    now: ARRIVAL,
    projectId: id,
    strict: true,
    chunkSize: `${lines[0]}\nx\n`.length,
    onRejected: (rows) => void rejected.push(...rows),
  })
  expect(report).toEqual({
    ...{ received: 3, events: 1, duplicates: 0, bots: 0, excluded: 0, rejected: 1 },
    ...{ users: 1, sessions: 1, first: new Date(AT), last: new Date(AT) },
  })
  expect(rejected).toEqual([{ row: 3, reason: NO_JSON, line: 'x' }])
})

test('a timestamp may be at most one day after the arrival', async () => {
  const { id } = await newProject(database.store)
  const ahead = 'timestamp: must be at most 24 hours ahead of its arrival'
  const cases = [
    ['2026-02-01T10:00:00.000Z', FINE],
    ['2026-02-01T10:00:00.001Z', ahead],
    ['2026-02-01T12:00:00+02:00', FINE],
    ['2026-02-01T10:00:01+00:00', ahead],
    ['2099-12-31T23:59:59Z', ahead],
    ['2100-01-01T00:00:00Z', FAR_TIME],
    ['1970-01-01T00:00:00Z', FINE],
  ] as const
  const { rejections } = await sendLines(
    cases.map(([timestamp]) => time(timestamp)),
    id,
    new Date(AT),
  )
  expect(rejections.map(({ row, reason }) => [row, reason])).toEqual(
    cases.flatMap(([, reason], n) => (reason === FINE ? [] : [[n + 1, reason]])),
  )
})
