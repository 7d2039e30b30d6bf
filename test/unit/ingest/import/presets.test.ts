/** The presets of other tools: what becomes of a row, and what is refused with which error. */
import { describe, expect, test } from '@jest/globals'
import type { OpenOptions } from '../../../../src/ingest/import/open-rows.js'
import { normalize } from '../../../../src/ingest/import/presets/names.js'
import { readObjects } from '../../../../src/ingest/import/presets/read-objects.js'
import { chunks, invalidLine, readText } from './formats/support.js'

/** Reads an export in chunks of several sizes; returns its events, and what was left out. */
async function read(tool: OpenOptions['tool'], text: string) {
  const results = await Promise.all(
    [1, 7, 1_000_000].map(async (size) => {
      const leftOut: string[] = []
      const onLeftOut = (columns: readonly string[]): void => void leftOut.push(...columns)
      const { lines, skipped } = await readText(text, { tool, onLeftOut }, size)
      return { lines: lines.map((line) => toEvent(line)), skipped, leftOut }
    }),
  )
  expect(results[1]).toEqual(results[0])
  expect(results[2]).toEqual(results[0])
  return results[0]!
}
const toEvent = (line: string): unknown => (line.startsWith('{') ? JSON.parse(line) : line)
const csv = (...rows: readonly string[]): string => rows.map((row) => `${row}\n`).join('')

describe('Umami', () => {
  const HEADER = 'created_at,session_id,event_type,event_name,url_path'

  test.each<[string, string, string, object | string]>([
    [
      'a pageview without a host',
      HEADER,
      '2026-03-02 10:00:00,s,1,,/a?b#c',
      {
        timestamp: '2026-03-02 10:00:00Z',
        user_id: 's',
        anonymous: true,
        name: 'pageview',
        path: '/a',
      },
    ],
    [
      'a custom event with all that is read',
      `${HEADER},visit_id,event_id,hostname,url_query,referrer_domain,referrer_path,referrer_query,utm_source,tag,event_data,subdivision1,city,job_id`,
      '2026-03-02 10:00:00.5+01,s,2,buy,/a,v,e,shop.example,x=1,news.example,/n,q,news,t,"{""a"":1}",DE-BE,Berlin,\\N',
      {
        timestamp: '2026-03-02 10:00:00.5+01',
        user_id: 's',
        session_id: 'v',
        event_id: 'e',
        anonymous: true,
        name: 'buy',
        url: 'https://shop.example/a?x=1',
        referrer_url: 'https://news.example/n?q',
        utm_source: 'news',
        region: 'DE-BE',
        city: 'Berlin',
        properties: { tag: 't', a: 1 },
      },
    ],
    ['a measurement', HEADER, '2026-03-02 10:00:00,s,5,,/a', ''],
    [
      'an event of an unknown type is no pageview',
      HEADER,
      '2026-03-02 10:00:00Z,s,9,,/a',
      {
        timestamp: '2026-03-02 10:00:00Z',
        user_id: 's',
        anonymous: true,
        name: 'event_type 9',
        path: '/a',
      },
    ],
  ])('%s', async (_what, header, row, want) => {
    const { lines, skipped, leftOut } = await read('umami', csv(header, row))
    expect([lines, skipped]).toEqual([[want], want === '' ? 1 : 0])
    expect(leftOut).toEqual(header.includes('job_id') ? ['job_id'] : [])
  })

  test.each([
    [
      `${HEADER},foo,bar`,
      "has columns that Umami's table website_event does not have: foo, bar; export it without them, or import it with --map <field>=<column> instead of --from",
    ],
    [
      'created_at,event_name,url_path',
      "lacks session_id, event_type, so it is not Umami's table website_event; it has created_at, event_name, url_path. The page /docs/imports says how to export it",
    ],
    [`${HEADER},created_at`, 'has the column created_at twice'],
  ])('%s', async (header, message) => {
    await expect(read('umami', csv(header, 'x'))).rejects.toThrow(message)
  })
})

describe('Matomo', () => {
  const visit = (more: object): string =>
    JSON.stringify({ idVisit: 7, visitorId: 'v', actionDetails: [], ...more })

  test('a visit becomes its actions', async () => {
    const actions = [
      { type: 'action', url: 'https://shop.example/', timestamp: 1772445600, dimension1: 'a' },
      { type: 'search', siteSearchKeyword: 'shoes', timestamp: 1772445601, revenue: '' },
      { type: 'goal', goalName: 'Buy', revenue: 5, timestamp: 1772445602 },
    ]
    const more = { userId: 'ada', countryCode: 'us', regionCode: 'CA', referrerType: 'campaign' }
    const text = visit({ ...more, actionDetails: actions, referrerName: 'spring', icon: 'x.png' })
    const shared = {
      user_id: 'ada',
      session_id: '7',
      anonymous: false,
      country: 'US',
      region: 'US-CA',
      utm_campaign: 'spring',
    }
    expect(await read('matomo', `[${text}]`)).toEqual({
      lines: [
        {
          ...shared,
          event_id: 'matomo-7-0',
          timestamp: '2026-03-02T10:00:00.000Z',
          name: 'pageview',
          url: 'https://shop.example/',
          properties: { dimension1: 'a' },
        },
        {
          ...shared,
          event_id: 'matomo-7-1',
          timestamp: '2026-03-02T10:00:01.000Z',
          name: 'search',
          properties: { siteSearchKeyword: 'shoes' },
        },
        {
          ...shared,
          event_id: 'matomo-7-2',
          timestamp: '2026-03-02T10:00:02.000Z',
          name: 'goal',
          properties: { goalName: 'Buy', revenue: 5 },
        },
      ],
      skipped: 0,
      leftOut: ['icon'],
    })
  })

  test('a visit without actions is skipped, a damaged one is a row that cannot be read', async () => {
    const { lines, skipped } = await read('matomo', `${visit({})}\n{"idVisit":8}\n{nope}\n`)
    expect([lines, skipped]).toEqual([
      [
        '',
        invalidLine('lacks visitorId, actionDetails', '{"idVisit":8}'),
        invalidLine('is not valid JSON', '{nope}'),
      ],
      1,
    ])
  })

  test.each([
    [
      '{"result":"error","message":"You can\'t access this resource"}',
      "lacks idVisit, visitorId, actionDetails, so it is not the JSON of Matomo's Live.getLastVisitsDetails; it has result, message.",
    ],
    [`[${visit({})}] nope`, 'has text that is not a JSON object after object 1'],
    [`[${visit({})},{"idVisit":1`, 'ends within object 2'],
  ])('%s', async (text, message) => {
    await expect(read('matomo', text)).rejects.toThrow(message)
  })
})

test('GA4: an event without a user, a session or a page, with parameters of every type', async () => {
  const params = [
    { key: 'plan', value: { string_value: 'pro' } },
    { key: 'seats', value: { int_value: '5' } },
    { key: 'price', value: { double_value: 1.5, string_value: null } },
    { key: 'none', value: {} },
    { key: 'ga_session_id', value: { int_value: '1' } },
  ]
  const row = { event_timestamp: '1772445600123456', event_name: 'buy', event_params: params }
  const skipped = { ...row, event_name: 'first_visit', items: [] }
  const text = `${JSON.stringify(row)}\n${JSON.stringify(skipped)}`
  expect(await read('ga4', text)).toEqual({
    lines: [
      {
        timestamp: '1772445600123456',
        name: 'buy',
        anonymous: true,
        properties: { plan: 'pro', seats: '5', price: 1.5 },
      },
      '',
    ],
    skipped: 1,
    leftOut: ['items'],
  })
})

const TOTALS =
  'has totals per day and not events. They do not say which user did what at which time'

test.each<[string, OpenOptions['tool'], string]>([
  ['Plausible', 'plausible', 'date,visitors,pageviews,visits\n2026-03-02,5,7,5\n'],
  ['Plausible, without the tool', undefined, '\ufeff"date","page","visits","visitors"\n'],
  ['Plausible, a dashboard', undefined, 'name,visitors,bounce_rate\nGoogle,5,20\n'],
  ['whatever is said to be of Plausible', 'plausible', '{"a":1}\n'],
  ['GA4, a report', 'ga4', '# ----------------------------------------\n# Pages\n'],
  ['GA4, a report without the tool', undefined, '# ------\nDate,Active users\n'],
  ['Matomo, a report', 'matomo', 'label,nb_uniq_visitors,nb_visits\n/,5,7\n'],
])('totals are refused: %s', async (_what, tool, text) => {
  await expect(read(tool, text)).rejects.toThrow(TOTALS)
})

test.each<[string, string, unknown]>([
  ['browser', 'edge-chromium', 'Edge'],
  ['browser', 'Mobile Safari', 'Safari'],
  ['browser', 'Ladybird', 'Ladybird'],
  ['os', 'Mac OS', 'macOS'],
  ['os', 'Windows 10', 'Windows'],
  ['os', 'Windows Phone', 'Windows Phone'],
  ['device_type', 'Phablet', 'mobile'],
  ['device_type', 'Smart TV', ''],
  ['country', 'de', 'DE'],
  ['country', 'Germany', 'DE'],
  ['country', 'United Kingdom', 'GB'],
  ['country', 'Myanmar (Burma)', 'MM'],
  ['country', "Côte d'Ivoire", 'CI'],
  ['country', 'Bosnia & Herzegovina', 'BA'],
  ['country', 'Serbia', 'RS'],
  ['country', 'Hong Kong', 'HK'],
  ['country', 'Curaçao', 'CW'],
  ['country', 'Atlantis', 'Atlantis'],
  ['country', 'xx', undefined],
  ['city', '(not set)', undefined],
  ['language', 'Unknown', undefined],
  ['user_id', 'unknown', 'unknown'],
  ['referrer_url', 'https://a.example/', 'https://a.example/'],
])('%s %s is %s', (field, value, want) => {
  expect(normalize(field, value)).toBe(want)
})

test('objects are found whatever their texts have', async () => {
  const objects = [{ a: '}"{\\' }, { b: { c: [{}, '\\"}'] } }, {}]
  for (const text of [
    JSON.stringify(objects, null, 2),
    objects.map((one) => JSON.stringify(one)).join('\n'),
  ]) {
    for (const size of [1, 3, 1_000]) {
      const found: unknown[] = []
      for await (const one of readObjects(chunks(Buffer.from(text), size)))
        found.push(JSON.parse(one))
      expect(found).toEqual(objects)
    }
  }
})
