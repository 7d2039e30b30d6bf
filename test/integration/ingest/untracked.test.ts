/** What is not tracked: bots, excluded addresses and countries; each is counted, with its reason. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { addProject } from '../../../src/commands/project.js'
import { removeProject } from '../../../src/ingest/remove.js'
import { readExclusions, type DailyExclusions } from '../../../src/projects/exclusions.js'
import type { NewProject, StoredProject } from '../../../src/projects/project.js'
import { runCommand } from '../../support/commands.js'
import { createDatabase, type TestDatabase } from '../../support/database.js'
import { factsAgree, readFacts } from '../../support/facts.js'
import { geographyOf } from '../../support/geography.js'
import { bring, linesOf } from '../../support/sources.js'
import { feed, loadFed } from '../../support/stream.js'
import { ARRIVAL, newProject } from '../../support/world.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database.drop())

type Fields = Readonly<Record<string, unknown>>

const at = (day: number, fields: Fields = {}): object => ({
  timestamp: `2026-01-${day}T10:00:00Z`,
  user_id: 'u',
  ...fields,
})

const shown = ({ id }: StoredProject): Promise<readonly DailyExclusions[]> =>
  readExclusions(database.store.reader, id)

/** Which of some events are tracked, by a project of these rules. */
async function tracked(events: readonly Fields[], rules: Partial<NewProject>): Promise<boolean[]> {
  const { store } = database
  const project = await newProject(store, rules)
  const rows = events.map((fields, n) => at(31, { path: `/${n}`, ...fields }))
  const geography = await geographyOf({ '203.0.113.0/24': { country: { iso_code: 'DE' } } })
  const { report } = await bring(store, linesOf(rows), { projectId: project.id, geography })
  await factsAgree(store, project.id)
  const paths = (await readFacts(store, project.id)).flatMap(({ items }) =>
    items.map((item) => item as unknown as readonly unknown[]).map((item) => Object.values(item)),
  )
  const is = events.map((_, n) => paths.some((values) => values.includes(`/${n}`)))
  expect(report.events).toBe(is.filter(Boolean).length)
  expect(report.bots + report.excluded).toBe(events.length - report.events)
  return is
}

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

test.each(RANGES)('of addresses, %s takes %j and leaves %j', async (range, out, kept) => {
  const ips = [...out, ...kept].map((ip) => ({ ip }))
  const is = await tracked([...ips, {}, { ip: '' }], { excludedIps: ['198.51.100.1', range] })
  expect(is).toEqual([...out.map(() => false), ...kept.map(() => true), true, true])
})

test('a country is that which is given, or else that of the address', async () => {
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
  const is = await tracked(
    cases.map(([fields]) => fields),
    { excludedCountries: ['DE', 'JP'] },
  )
  expect(cases.map(([fields], n) => [fields, is[n]])).toEqual(cases)
})

test('bots are not tracked, whatever else they say', async () => {
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
    ['Mozilla/5.0 (An agent; nobody has heard of it) Gecko/1 Other/1.0', true],
  ] as const
  const is = await tracked(
    cases.map(([user_agent]) => ({ user_agent, browser: 'Firefox', device_type: 'desktop' })),
    {},
  )
  expect(cases.map(([agent], n) => [agent, is[n]])).toEqual(cases)
})

describe('what is not tracked', () => {
  const RULES = { excludedIps: ['192.0.2.0/24'], excludedCountries: ['DE'] }
  const OUT = {
    ip: { ip: '192.0.2.1' },
    country: { country: 'DE' },
    bot: { user_agent: 'Googlebot/2.1' },
  } as const

  test('is counted by day and reason, the first reason of several, over all loads', async () => {
    const { store } = database
    const project = await newProject(store, RULES)
    const other = await newProject(store, RULES)
    const days = [
      [20, OUT.ip],
      [20, { ...OUT.ip, ...OUT.country, ...OUT.bot }],
      [20, { ...OUT.country, ...OUT.bot }],
      [21, OUT.bot],
      [21, {}],
    ] as const
    const rows = days.map(([day, fields]) => at(day, { project: project.id, ...fields }))
    const { report } = await bring(
      store,
      linesOf([...rows, at(20, { project: other.id, ...OUT.bot })]),
    )
    expect(report).toMatchObject({ received: 6, events: 1, bots: 2, excluded: 3, rejected: 0 })
    await feed(store, project.id, [at(20, OUT.bot), at(22, OUT.country), at(22, OUT.country)])
    await loadFed(store)
    const want = [
      { day: '2026-01-22', bot: 0, ip: 0, country: 2 },
      { day: '2026-01-21', bot: 1, ip: 0, country: 0 },
      { day: '2026-01-20', bot: 1, ip: 2, country: 1 },
    ]
    expect(await shown(project)).toEqual(want)
    expect(await shown(other)).toEqual([{ day: '2026-01-20', bot: 1, ip: 0, country: 0 }])

    const { endpoint } = database
    const show = (...args: readonly string[]) =>
      runCommand(addProject, ['project', 'show', project.id, ...args], { endpoint, now: ARRIVAL })
    const { stdout } = await show('--json')
    expect(JSON.parse(stdout)).toMatchObject({ id: project.id, exclusions: want })
    expect((await show()).stdout).toMatch(
      /\n\nNOT TRACKED +BOTS +EXCLUDED IPS +EXCLUDED COUNTRIES\n2026-01-22 +0 +0 +2\n2026-01-21 +1 +0 +0\n2026-01-20 +1 +2 +1\n$/,
    )
  })

  test('uses up no event id, and makes no user', async () => {
    const { store } = database
    const project = await newProject(store, RULES)
    const { id: projectId } = project
    const out = Object.values(OUT).map((fields, n) =>
      at(25, {
        ...fields,
        event_id: `e${n}`,
        user_id: null,
        ...(n === 0 ? {} : { ip: '198.51.100.1' }),
      }),
    )
    expect((await bring(store, linesOf(out), { projectId })).report).toMatchObject({
      ...{ received: 3, events: 0, duplicates: 0, bots: 1, excluded: 2 },
      ...{ users: 0, sessions: 0, first: null, last: null },
    })
    expect(await readFacts(store, projectId)).toEqual([])
    // Of one id the excluded event is no event: the other counts, whichever comes first.
    const again = [0, 1, 2].map((n) => at(25, { event_id: `e${n}`, path: `/${n}` }))
    const both = [at(25, { ...OUT.bot, event_id: 'f' }), at(25, { event_id: 'f', path: '/f' })]
    const { report } = await bring(store, linesOf([...again, ...both, ...again]), { projectId })
    expect(report).toMatchObject({ events: 4, duplicates: 3, bots: 1 })
    await factsAgree(store, projectId)
  })

  test('is forgotten with the project', async () => {
    const { store } = database
    const project = await newProject(store, RULES)
    await bring(store, linesOf([at(20, OUT.bot), at(20)]), { projectId: project.id })
    expect(await shown(project)).toHaveLength(1)
    await removeProject(store, project.id)
    expect(await shown(project)).toEqual([])
    expect(await shown(await newProject(store, { id: project.id }))).toEqual([])
  })
})
