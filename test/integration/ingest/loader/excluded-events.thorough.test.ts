/** Excluded events: bots, excluded addresses and excluded countries. */
import { beforeAll, describe, expect, test } from '@jest/globals'
import type { NewProject } from '../../../../src/projects/project.js'
import { withDatabase } from '../../../support/store/database.js'
import { expectConsistentFacts, readFacts } from '../../../support/store/facts.js'
import { createGeoip } from '../../../support/geoip/geography.js'
import { importLines, toLines } from '../../../support/sources/sources.js'
import { newProject } from '../../../support/world/world.js'

const database = withDatabase()

type Fields = Readonly<Record<string, unknown>>

const at = (day: number, fields: Fields = {}): object => ({
  timestamp: `2026-01-${day}T10:00:00Z`,
  user_id: 'u',
  ...fields,
})

interface Case {
  readonly events: readonly Fields[]
  readonly rules: Partial<NewProject>
}

/** Imports the events of each case into its own project, in one load; returns for each event whether it was kept. */
async function importAll(cases: readonly Case[]): Promise<readonly (readonly boolean[])[]> {
  const { store } = database
  const projects = await Promise.all(cases.map(({ rules }) => newProject(store, rules)))
  const rows = cases.flatMap(({ events }, i) =>
    events.map((fields, n) => at(31, { path: `/${n}`, project: projects[i]!.id, ...fields })),
  )
  const geoip = await createGeoip({ '203.0.113.0/24': { country: { iso_code: 'DE' } } })
  const { report } = await importLines(store, toLines(rows), { geoip })
  const kept: boolean[][] = []
  for (const [i, { events }] of cases.entries()) {
    const { id } = projects[i]!
    await expectConsistentFacts(store, id)
    const paths = (await readFacts(store, id)).flatMap(({ items }) =>
      items.map((item) => item as unknown as readonly unknown[]).map((item) => Object.values(item)),
    )
    kept.push(events.map((_, n) => paths.some((values) => values.includes(`/${n}`))))
  }
  expect(report.events).toBe(kept.flat().filter(Boolean).length)
  expect(report.bots + report.excluded).toBe(rows.length - report.events)
  return kept
}

const isKept = async (events: readonly Fields[], rules: Partial<NewProject>) =>
  (await importAll([{ events, rules }]))[0]!

const RANGES: readonly (readonly [
  range: string,
  out: readonly string[],
  kept: readonly string[],
])[] = [
  ['192.0.2.1', ['192.0.2.1', '::ffff:192.0.2.1', '::ffff:c000:201'], ['192.0.2.2', '::192.0.2.1']],
  ['::ffff:192.0.2.2', ['192.0.2.2', '::FFFF:192.0.2.2'], ['192.0.2.3']],
  [
    '2001:db8::1',
    ['2001:db8::1', '2001:DB8:0:0:0:0:0:1', '2001:0db8::0001'],
    ['2001:db8::2', '2001:db8::', '::'],
  ],
  [
    '0.0.0.0/0',
    ['0.0.0.0', '127.0.0.1', '255.255.255.255', '::ffff:1.2.3.4'],
    ['::', '::1', '2001:db8::1'],
  ],
  [
    '10.0.0.0/8',
    ['10.0.0.0', '10.255.255.255', '::ffff:10.1.2.3'],
    ['9.255.255.255', '11.0.0.0', '::10.0.0.1'],
  ],
  ['192.0.2.0/24', ['192.0.2.0', '192.0.2.255'], ['192.0.1.255', '192.0.3.0']],
  ['192.0.2.77/24', ['192.0.2.0', '192.0.2.255'], ['192.0.1.255', '192.0.3.0']],
  ['192.0.2.2/31', ['192.0.2.2', '192.0.2.3'], ['192.0.2.1', '192.0.2.4']],
  ['192.0.2.2/32', ['192.0.2.2'], ['192.0.2.1', '192.0.2.3']],
  ['::/0', ['::', '2001:db8::1', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'], []],
  [
    '2001:db8::/32',
    ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['2001:db7:ffff::', '2001:db9::'],
  ],
  [
    '2001:db8::/64',
    ['2001:db8::', '2001:db8::ffff:ffff:ffff:ffff'],
    ['2001:db8:0:1::', '2001:db7::'],
  ],
  ['2001:db8::9/128', ['2001:db8::9'], ['2001:db8::8', '2001:db8::a']],
  ['::ffff:192.0.2.0/120', ['192.0.2.0', '192.0.2.255'], ['192.0.1.255', '192.0.3.0']],
]

describe('an excluded range of addresses', () => {
  let kept: readonly (readonly boolean[])[]
  beforeAll(async () => {
    kept = await importAll(
      RANGES.map(([range, out, others]) => ({
        events: [...[...out, ...others].map((ip) => ({ ip })), {}, { ip: '' }],
        rules: { excludedIps: ['198.51.100.1', range] },
      })),
    )
  })

  test.each(RANGES)('%s excludes %j and keeps %j', (range, out, others) => {
    const n = RANGES.findIndex(([one]) => one === range)
    expect(kept[n]).toEqual([...out.map(() => false), ...others.map(() => true), true, true])
  })
})

test('the country is that of the event, or else that of its address', async () => {
  const cases = [
    [{ country: 'DE' }, false],
    [{ country: 'FR' }, true],
    [{}, true],
    [{ ip: '203.0.113.9' }, false],
    [{ ip: '::ffff:203.0.113.9' }, false],
    [{ ip: '203.0.114.9' }, true],
    [{ ip: '203.0.113.9', country: 'FR' }, true],
    [{ ip: '203.0.113.9', country: '' }, false],
    [{ ip: '203.0.114.9', country: 'DE' }, false],
    [{ ip: '203.0.113.9', country: null }, false],
  ] as const
  const is = await isKept(
    cases.map(([fields]) => fields),
    { excludedCountries: ['DE', 'JP'] },
  )
  expect(cases.map(([fields], n) => [fields, is[n]])).toEqual(cases)
})

test('events of bots are excluded, whatever their other fields', async () => {
  const cases = [
    ['Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)', false],
    ['Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2)', false],
    ['curl/8.5.0', false],
    ['python-requests/2.32.3', false],
    ['facebookexternalhit/1.1', false],
    ['-', false],
    ['', true],
    [null, true],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', true],
    ['Mozilla/5.0 (Plan9) Gecko/1 Acme/1.0', true],
  ] as const
  const is = await isKept(
    cases.map(([user_agent]) => ({ user_agent, browser: 'Firefox', device_type: 'desktop' })),
    {},
  )
  expect(cases.map(([agent], n) => [agent, is[n]])).toEqual(cases)
})
