/** Events with their senders and shards. The stored events lie by these numbers, so none of them may change. */
import type { Placement, SenderFields } from '../../../src/cluster/choose-shard.js'

/** The placement of a project that lives across a number of shards and was never widened. */
export const placeOn = (width: number): Placement => ({
  shards: Array.from({ length: width }, (_, i) => `shard${i + 1}`),
  formerWidths: [],
})

export interface SenderCase {
  readonly what: string
  readonly event: SenderFields
  /** The CRC-32 of the sender in UTF-8: the shard is its remainder by the width. */
  readonly hash: number
}

const AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0'
const IP = '203.0.113.9'

const NOTHING = 3916222277
const ADDRESS = 3470098615
const BOTH = 1600805324
const LONG = 3669914621

const empty = (...values: readonly (string | null | undefined)[]): readonly SenderCase[] =>
  values.map((none) => ({
    what: `${none === '' ? 'empty' : String(none)} fields`,
    event: { user_id: none, ip: none, user_agent: none },
    hash: NOTHING,
  }))

export const SENDERS: readonly SenderCase[] = [
  { what: 'the check value of the standard', event: { user_id: '123456789' }, hash: 0xcbf43926 },
  { what: 'a user id', event: { user_id: 'u42' }, hash: 3733377502 },
  {
    what: 'a user id beside the rest',
    event: { user_id: 'u42', ip: IP, user_agent: AGENT },
    hash: 3733377502,
  },
  { what: 'a composed letter', event: { user_id: '\u00e9' }, hash: 235179326 },
  { what: 'a decomposed letter', event: { user_id: 'e\u0301' }, hash: 1286470445 },
  { what: 'astral characters', event: { user_id: '😀 Ω 漢字' }, hash: 4224497368 },
  { what: 'characters that JSON escapes', event: { user_id: 'a"b\\c' }, hash: 3786273697 },
  { what: 'spaces', event: { user_id: ' x ' }, hash: 461655236 },
  { what: 'no fields', event: {}, hash: NOTHING },
  ...empty('', null, undefined),
  { what: 'an address', event: { ip: IP }, hash: ADDRESS },
  { what: 'an address, and an empty user id', event: { ip: IP, user_id: '' }, hash: ADDRESS },
  {
    what: 'an address, and null',
    event: { ip: IP, user_id: null, user_agent: null },
    hash: ADDRESS,
  },
  { what: 'an address of IPv6', event: { ip: '2001:db8::1' }, hash: 248796909 },
  { what: 'a user agent', event: { user_agent: AGENT }, hash: 2330883962 },
  { what: 'an address and a user agent', event: { ip: IP, user_agent: AGENT }, hash: BOTH },
  {
    what: 'a user agent of 1,024 characters',
    event: { ip: IP, user_agent: 'a'.repeat(1_024) },
    hash: LONG,
  },
  { what: 'a longer user agent', event: { ip: IP, user_agent: 'a'.repeat(1_025) }, hash: LONG },
  {
    what: 'a much longer user agent',
    event: { ip: IP, user_agent: `${'a'.repeat(1_024)}${'😀'.repeat(3_000)}` },
    hash: LONG,
  },
  {
    what: 'an astral character before the cut',
    event: { ip: IP, user_agent: `${'a'.repeat(1_023)}😀` },
    hash: 3439687627,
  },
  {
    what: 'astral characters around the cut',
    event: { ip: IP, user_agent: `${'a'.repeat(1_023)}😀😀b` },
    hash: 3439687627,
  },
  { what: 'only astral characters', event: { user_agent: '😀'.repeat(1_024) }, hash: 1630419623 },
  {
    what: 'too many astral characters',
    event: { user_agent: '😀'.repeat(2_500) },
    hash: 1630419623,
  },
  {
    what: 'too many letters of two bytes',
    event: { user_agent: 'é'.repeat(1_100) },
    hash: 932713033,
  },
]

/** An event of a project that was widened. */
export interface WidenedCase {
  readonly what: string
  readonly event: SenderFields
  /** The arrival of an event without a timestamp. */
  readonly receivedAt?: string
  /** The width by which it is placed. */
  readonly width: number
}

/** On one shard before 1 March, on two before 1 May, and on eight since then. */
export const WIDENED: Placement = {
  ...placeOn(8),
  formerWidths: [
    { width: 1, until: new Date('2026-03-01T00:00:00Z') },
    { width: 2, until: new Date('2026-05-01T00:00:00Z') },
  ],
}

/** Senders whose remainders by 1, 2 and 8 all differ. */
const DERIVED = { ip: IP, user_agent: AGENT.replace('128', '1') }
const DERIVED_ID = 'anonymous-b2221a58008a05a6c4647159c324c985'

export const WIDENED_CASES: readonly WidenedCase[] = [
  ...(
    [
      ['1970-01-01T00:00:00Z', 1],
      ['2026-02-28T23:59:59.999Z', 1],
      ['2026-02-28T23:59:59.999999999Z', 1],
      ['2026-03-01T00:00:00Z', 2],
      ['2026-03-01T00:00Z', 2],
      ['2026-03-01T00:59:59+01:00', 1],
      ['2026-03-01T01:00:00+0100', 2],
      ['2026-02-28T23:29:59-00:30', 1],
      ['2026-02-28T23:30-00:30', 2],
      ['2026-04-30T23:59:59.9Z', 2],
      ['2026-05-01T00:00:00.000Z', 8],
      ['2026-05-01T23:59:59.999+23:59', 8],
      ['2026-05-01T23:58:59.999+23:59', 2],
      ['2099-12-31T23:59:59Z', 8],
    ] as const
  ).map(([timestamp, width]) => ({
    what: `an event of ${timestamp}`,
    event: { ...DERIVED, timestamp },
    width,
  })),
  ...(
    [
      ['2026-02-28T23:59:59.999Z', 1],
      ['2026-03-01T00:00:00.000Z', 2],
      ['2026-04-30T23:59:59.999Z', 2],
      ['2026-05-01T00:00:00.000Z', 8],
    ] as const
  ).flatMap(([receivedAt, width]) =>
    [{}, { timestamp: null }, { timestamp: '' }].map((none) => ({
      what: `an event with ${JSON.stringify(none)} that arrives at ${receivedAt}`,
      event: { ...DERIVED, user_id: '', ...none },
      receivedAt,
      width,
    })),
  ),
  {
    what: 'an old event with a user id',
    event: { ...DERIVED, user_id: 'u5', timestamp: '2026-01-01T00:00:00Z' },
    width: 8,
  },
  ...(
    [
      ['2026-02-28T10:00:00Z', 1],
      ['2026-03-01T10:00:00Z', 2],
      ['2026-05-01T10:00:00Z', 8],
    ] as const
  ).map(([timestamp, width]) => ({
    what: `an event of ${timestamp} whose user was derived`,
    event: { user_id: DERIVED_ID, timestamp },
    width,
  })),
  ...[DERIVED_ID.toUpperCase(), `${DERIVED_ID}7`, `${DERIVED_ID}\n`, `x${DERIVED_ID}`].map(
    (id) => ({
      what: `an event of a user with the own id ${JSON.stringify(id)}`,
      event: { user_id: id, timestamp: '2026-01-01T00:00:00Z' },
      width: 8,
    }),
  ),
  {
    what: 'an event with a user id that arrived long ago',
    event: { user_id: 'u5' },
    receivedAt: '2026-01-01T00:00:00Z',
    width: 8,
  },
]
