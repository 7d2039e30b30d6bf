/** Country, region and city of events, looked up by an IP address that is never stored. */
import { beforeAll, expect, test } from '@jest/globals'
import { identifier, sql, string } from '../../../../src/clickhouse/sql.js'
import type { Geoip } from '../../../../src/ingest/enrichment/geoip.js'
import { withDatabase } from '../../../support/store/database.js'
import { expectConsistentFacts, select } from '../../../support/store/facts.js'
import { createGeoip } from '../../../support/geoip/geography.js'
import { importLines, toLines } from '../../../support/sources/sources.js'
import { feed, loadInbox } from '../../../support/store/stream.js'
import { newProject } from '../../../support/world/world.js'

const database = withDatabase()
let geoip: Geoip

beforeAll(async () => {
  geoip = await createGeoip({
    '203.0.113.0/25': {
      country: { iso_code: 'DE' },
      subdivisions: [{ iso_code: 'BY' }],
      city: { names: { en: 'Munich' } },
    },
    '203.0.113.128/25': { country: { iso_code: 'FR' } },
    '2001:db8::/32': { country: { iso_code: 'JP' }, city: { names: { en: 'Ōtsu' } } },
    '198.51.100.0/24': { city: { names: { en: 'Atlantis' } } },
  })
})

type Fields = Readonly<Record<string, unknown>>
const MUNICH = '203.0.113.7'

const CASES: readonly (readonly [Fields, country: string, city: string, region?: string])[] = [
  [{ ip: MUNICH }, 'DE', 'Munich', 'DE-BY'],
  [{ ip: `::ffff:${MUNICH}` }, 'DE', 'Munich', 'DE-BY'],
  [{ ip: '203.0.113.200' }, 'FR', ''],
  [{ ip: '2001:DB8:0::5' }, 'JP', 'Ōtsu'],
  [{ ip: '198.51.100.1' }, '', 'Atlantis'],
  [{ ip: '192.0.2.1' }, '', ''],
  [{}, '', ''],
  [{ ip: '' }, '', ''],
  [{ country: 'IT' }, 'IT', ''],
  [{ ip: MUNICH, country: 'DE' }, 'DE', 'Munich', 'DE-BY'],
  [{ ip: MUNICH, country: 'IT' }, 'IT', ''],
  [{ ip: MUNICH, city: 'Berlin' }, 'DE', 'Berlin', 'DE-BY'],
  [{ ip: MUNICH, region: 'DE-BE' }, 'DE', '', 'DE-BE'],
  [{ ip: MUNICH, region: 'DE-BY' }, 'DE', 'Munich', 'DE-BY'],
  [{ region: 'Somewhere' }, '', '', 'Somewhere'],
  [{ ip: MUNICH, country: 'IT', city: 'Rome' }, 'IT', 'Rome'],
  [{ ip: '192.0.2.1', city: 'Rome' }, '', 'Rome'],
  [{ ip: MUNICH, country: '', city: '' }, 'DE', 'Munich', 'DE-BY'],
  [{ ip: MUNICH, country: null, city: null, region: null }, 'DE', 'Munich', 'DE-BY'],
  [{ ip: '203.0.113.200', country: 'FR' }, 'FR', ''],
  [{ ip: '198.51.100.1', country: 'IT' }, 'IT', ''],
]

const rows = CASES.map(([fields], n) => ({
  timestamp: new Date(Date.UTC(2026, 0, 31, 10) + n).toISOString(),
  user_id: `u${n}`,
  ...fields,
}))

const placesIn = (table: 'events' | 'sessions', time: string, project: string) =>
  select(
    database.store,
    sql`
SELECT country, region, city FROM ${identifier(table)} WHERE project_id = ${string(project)}
ORDER BY ${identifier(time)}`,
  )

test('country, region and city are looked up if the event has none', async () => {
  const { store } = database
  const [file, stream] = [await newProject(store), await newProject(store)]
  await importLines(store, toLines(rows), { projectId: file.id, geoip })
  await feed(store, stream.id, rows)
  await loadInbox(store, geoip)
  for (const { id } of [file, stream]) {
    const found = await placesIn('events', 'timestamp', id)
    expect(CASES.map(([fields], n) => [fields, found[n]])).toEqual(
      CASES.map(([fields, country, city, region = '']) => [fields, { country, region, city }]),
    )
    expect(await placesIn('sessions', 'start_at', id)).toEqual(found)
    await expectConsistentFacts(store, id)
  }
})

test('without a database only those of the event are stored', async () => {
  const project = await newProject(database.store)
  await importLines(database.store, toLines(rows), { projectId: project.id })
  expect(await placesIn('events', 'timestamp', project.id)).toEqual(
    CASES.map(([{ country, region, city }]) => ({
      country: country ?? '',
      region: region ?? '',
      city: city ?? '',
    })),
  )
})

test('a session has the place of its earliest event', async () => {
  const { store } = database
  const project = await newProject(store)
  const visit = (minute: string, ip: string): object => ({
    timestamp: `2026-01-31T10:${minute}:00Z`,
    user_id: 'u',
    ip,
  })
  for (const row of [
    visit('20', '2001:db8::1'),
    visit('30', MUNICH),
    visit('10', '203.0.113.200'),
  ]) {
    await feed(store, project.id, [row])
    await loadInbox(store, geoip)
  }
  expect(await placesIn('events', 'timestamp', project.id)).toEqual(
    Array(3).fill({ country: 'FR', region: '', city: '' }),
  )
  await expectConsistentFacts(store, project.id)
})

test('no address is stored anywhere, whatever its source and the outcome of its row', async () => {
  const { store } = database
  const marks = ['203.0.113.99', '2001:db8::99:99', '192.0.2.99', '198.51.100.99', '203.0.113.98']
  const [tracked, sixth, excluded, bot, rejected] = marks as [
    string,
    string,
    string,
    string,
    string,
  ]
  const project = await newProject(store, { excludedIps: ['192.0.2.0/24'] })
  const visits = [
    { ip: tracked },
    { ip: sixth, user_agent: 'An agent' },
    { ip: excluded },
    { ip: bot, user_agent: 'Googlebot/2.1' },
    { ip: rejected, name: 7 },
  ].map((fields) => ({ timestamp: '2026-01-31T10:00:00Z', ...fields }))
  await importLines(store, toLines(visits), { projectId: project.id, geoip, dryRun: true })
  await importLines(store, toLines(visits), { projectId: project.id, geoip })
  await feed(store, project.id, visits)
  await loadInbox(store, geoip)
  const columns = await select<{ table: string; name: string }>(
    store,
    sql`
SELECT table, name FROM system.columns
WHERE database = currentDatabase() AND table != 'projects' AND default_kind != 'ALIAS'`,
  )
  expect(columns.length).toBeGreaterThan(60)
  for (const { table, name } of columns) {
    const hits = await select(
      store,
      sql`
SELECT count() AS n FROM ${identifier(table)}
WHERE arrayExists(mark -> position(toString(${identifier(name)}), mark) > 0, [${marks
        .map((mark) => string(mark))
        .reduce((list, mark) => sql`${list}, ${mark}`)}])`,
    )
    expect({ table, name, hits }).toEqual({ table, name, hits: [{ n: 0 }] })
  }
})
