/** The exports of other tools are imported with the numbers that the tools counted, as the API returns them. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { RunningService } from '../../../../src/bootstrap/serving/start-service.js'
import type { Tool } from '../../../../src/ingest/import/presets/tools.js'
import { toGa4, toMatomo, toUmamiCloud, toUmamiPostgres } from '../../../support/exports/exports.js'
import {
  countBy,
  countPaths,
  countVisits,
  createTraffic,
  type Visit,
} from '../../../support/exports/traffic.js'
import { importBytes } from '../../../support/sources/import-bytes.js'
import { splitIntoChunks } from '../../../support/sources/sources.js'
import { createDatabase, type TestDatabase } from '../../../support/store/database.js'
import { createKeys, type TestKeys } from '../../../support/world/keys.js'
import { startTestService } from '../../../support/world/service.js'
import { newProject, NOW } from '../../../support/world/world.js'

let database: TestDatabase
let keys: TestKeys
let service: RunningService
beforeAll(async () => {
  database = await createDatabase()
  keys = await createKeys(database.store)
  service = await startTestService({ store: database.store, now: () => NOW })
})
afterAll(async () => {
  await service.stop()
  await keys.remove()
  await database.drop()
})

interface Row {
  readonly group: Readonly<Record<string, string>>
  readonly metrics: Readonly<Record<string, number>>
}

/** Queries all of March: the metrics of each group. */
async function ask(key: string, metrics: readonly string[], field?: string) {
  const response = await fetch(`${service.address}/v1/analytics/query`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` },
    body: JSON.stringify({
      date_range: ['2026-03-01', '2026-03-31'],
      metrics,
      group_by: field === undefined ? [] : [field],
    }),
  })
  const body = (await response.json()) as { readonly data: readonly Row[] }
  expect([response.status, body]).toEqual([200, expect.anything()])
  const { data } = body
  return new Map(data.map(({ group, metrics }) => [Object.values(group)[0] ?? '', metrics]))
}

const COUNTS = ['users', 'visits', 'pageviews', 'events']

/** Each export, the property that has the plan of its events, and what its visits have of each attribute. */
const EXPORTS: readonly (readonly [
  string,
  Tool,
  (visits: readonly Visit[]) => string,
  plan: string | undefined,
  attributes: Readonly<Record<string, string>>,
])[] = [
  [
    'Umami, cloud',
    'umami',
    toUmamiCloud,
    undefined,
    {
      os: 'Windows',
      device_type: 'desktop',
      language: 'de-DE',
      region: 'DE-BE',
      referrer: 'Google',
    },
  ],
  [
    'Umami, PostgreSQL',
    'umami',
    toUmamiPostgres,
    'plan',
    {
      os: 'Windows',
      device_type: 'desktop',
      language: 'de-DE',
      region: 'DE-BE',
      referrer: 'Google',
    },
  ],
  ['Matomo', 'matomo', toMatomo, 'eventName', { os: 'Linux', device_type: 'mobile' }],
  [
    'GA4',
    'ga4',
    toGa4,
    'plan',
    { os: 'macOS', device_type: 'desktop', region: 'Berlin', city: '' },
  ],
]

describe.each(EXPORTS)('%s', (_name, tool, write, plan, attributes) => {
  const traffic = createTraffic(7)
  const want = countVisits(traffic)
  const text = write(traffic)
  const open = () => splitIntoChunks(text, [10_007])

  test('all totals are those of the traffic, and a second import changes none', async () => {
    const project = await newProject(database.store, { domain: 'shop.example' })
    const key = await keys.issue(project.id, NOW)
    const leftOut: string[] = []
    const load = () =>
      importBytes(database.store, project.id, open(), {
        tool,
        onLeftOut: (columns) => void leftOut.push(...columns),
      })
    const { report, rejections, skipped, zoneless } = await load()
    const received = want.pageviews + want.events
    expect({ ...report, rejections, zoneless }).toMatchObject({
      ...{ received, events: received, duplicates: 0, bots: 0, excluded: 0, rejected: 0 },
      ...{ users: want.users, sessions: traffic.length, rejections: [], zoneless: 0 },
    })
    expect(skipped).toBe(tool === 'ga4' ? 2 * traffic.length : 0)
    expect(leftOut.length).toBeGreaterThan(1)

    expect(await ask(key, COUNTS)).toEqual(new Map([['', want]]))
    expect(await ask(key, COUNTS, 'country')).toEqual(countBy(traffic, ({ country }) => country))
    expect(await ask(key, COUNTS, 'browser')).toEqual(countBy(traffic, ({ browser }) => browser))
    expect(await ask(key, COUNTS, 'utm_campaign')).toEqual(
      countBy(traffic, ({ campaign }) => campaign),
    )
    const paths = await ask(key, ['pageviews'], 'page:path')
    const decoded = [...paths].map(([path, counts]) => [decodeURI(path), counts['pageviews']])
    expect(new Map(decoded as [string, number][])).toEqual(countPaths(traffic))
    for (const [field, value] of Object.entries(attributes)) {
      expect([field, [...(await ask(key, ['users'], field)).keys()]]).toEqual([field, [value]])
    }
    const custom = traffic.flatMap(({ actions }) => actions).flatMap(({ event }) => event ?? [])
    const byPlan = plan === undefined ? new Map() : await ask(key, ['events'], `event:prop:${plan}`)
    for (const value of plan === undefined ? [] : ['pro', 'free, for "ever"']) {
      const events = custom.filter((event) => event.plan === value).length
      expect([value, byPlan.get(value)]).toEqual([value, { events }])
    }
    expect((await load()).report).toMatchObject({ events: 0, duplicates: received })
  })
})

test.each([
  ['Umami', 'umami', toUmamiCloud],
  ['Matomo', 'matomo', toMatomo],
] as const)('%s: events that two exports share count once', async (_name, tool, write) => {
  const traffic = createTraffic(8)
  const project = await newProject(database.store, { domain: 'shop.example' })
  const parts = [traffic.slice(0, 120), traffic.slice(80)]
  const texts = tool === 'matomo' ? parts.map(write) : splitRows(write(traffic), 300, 200)
  for (const text of texts) {
    await importBytes(database.store, project.id, splitIntoChunks(text), { tool })
  }
  const key = await keys.issue(project.id, NOW)
  expect(await ask(key, COUNTS)).toEqual(new Map([['', countVisits(traffic)]]))
})

/** Splits the rows of CSV into two files that share rows: the first ends at row `end`, the second begins at row `start`. */
function splitRows(csv: string, end: number, start: number): readonly string[] {
  const [header = '', ...rows] = csv.trimEnd().split('\n')
  return [rows.slice(0, end), rows.slice(start)].map((part) => [header, ...part].join('\n'))
}
