/** Each user agent and referrer is classified once per version of the rules; fields of the event take precedence. */
import { expect, test } from '@jest/globals'
import type { Connection } from '../../../../src/clickhouse/connection.js'
import { sql, statement, string, type Sql } from '../../../../src/clickhouse/sql.js'
import type { Store } from '../../../../src/clickhouse/store.js'
import { AGENTS_VERSION } from '../../../../src/ingest/enrichment/user-agents.js'
import { REFERRERS_VERSION } from '../../../../src/ingest/enrichment/referrers.js'
import { withDatabase } from '../../../support/store/database.js'
import { expectConsistentFacts, readFacts, select } from '../../../support/store/facts.js'
import { importLines, toLines } from '../../../support/sources/sources.js'
import { feed, loadInbox } from '../../../support/store/stream.js'
import { newProject } from '../../../support/world/world.js'

const database = withDatabase()

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'
const SEARCH = 'https://www.google.com/'

type Fields = Readonly<Record<string, unknown>>

const at = (n: number, fields: Fields = {}): object => ({
  timestamp: new Date(Date.UTC(2026, 0, 31, 10) + n).toISOString(),
  user_id: `u${n}`,
  ...fields,
})

/** Loads events, each of another user, and returns what is stored of them, in order. */
async function stored(events: readonly Fields[], columns: Sql, store = database.store) {
  const { id } = await newProject(store)
  const rows = events.map((fields, n) => at(n, fields))
  const { rejections } = await importLines(store, toLines(rows), { projectId: id })
  expect(rejections).toEqual([])
  await expectConsistentFacts(store, id)
  return select(
    store,
    sql`SELECT ${columns} FROM events WHERE project_id = ${string(id)} ORDER BY timestamp`,
  )
}

const ALL = sql`browser, os, device_type, referrer, referrer_type`
const LINUX = { browser: 'Firefox', os: 'Linux', device_type: 'desktop' }
const GOOGLE = { referrer: 'Google', referrer_type: 'search' }
const UNKNOWN = { browser: '', os: '', device_type: '' }
const DIRECT = { referrer: '', referrer_type: 'direct' }

/** Creates a store that records inserts into the enrichment tables. */
function recordInserts(store: Store): { readonly store: Store; readonly inserts: string[] } {
  const inserts: string[] = []
  const { writer } = store
  const upload: Connection['upload'] = async (given, bytes, settings) => {
    if (!/INSERT INTO (agents|referrers)/.test(given.query)) {
      return writer.upload(given, bytes, settings)
    }
    const chunks: Buffer[] = []
    for await (const chunk of bytes) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    inserts.push(
      ...text
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as string[])[0]!),
    )
    const { Readable } = await import('node:stream')
    return writer.upload(given, Readable.from([Buffer.from(text)]), settings)
  }
  return { store: { ...store, writer: { ...writer, upload } }, inserts }
}

test('each user agent and referrer is classified once, for all rows and all loads', async () => {
  const { store, inserts } = recordInserts(database.store)
  const agents = Array.from({ length: 5 }, (_, n) => `${FIREFOX} once/${n}`)
  const events = Array.from({ length: 1_000 }, (_, n) => ({
    user_agent: agents[n % 5],
    referrer_url: `https://site-${n % 7}.example.org/page/${n}`,
  }))
  await stored(events, ALL, store)
  expect([...inserts].sort()).toEqual(
    [...agents, ...Array.from({ length: 7 }, (_, n) => `site-${n}.example.org`)].sort(),
  )
  inserts.length = 0
  await stored([...events.slice(0, 9), { user_agent: `${FIREFOX} twice` }, {}], ALL, store)
  const { id } = await newProject(store)
  await feed(
    store,
    id,
    events.slice(0, 9).map((fields, n) => at(n, fields)),
  )
  await loadInbox(store)
  expect(inserts).toEqual([`${FIREFOX} twice`])
  // Values of excluded and invalid rows are not classified.
  const out = { excludedCountries: ['DE'], excludedIps: ['192.0.2.1'] }
  const strict = await newProject(store, out)
  const rows = [{ country: 'DE' }, { ip: '192.0.2.1' }, { name: 7 }]
  await importLines(
    store,
    toLines(rows.map((fields, n) => at(n, { ...fields, user_agent: `${FIREFOX} never` }))),
    { projectId: strict.id },
  )
  expect(inserts).toEqual([`${FIREFOX} twice`])
})

test('results of another version of the rules are not used', async () => {
  const { writer } = database.store
  const agent = `${FIREFOX} version`
  const writeInserts = (version: string, name: string) => [
    sql`INSERT INTO agents (user_agent, version, browser, is_bot) SELECT ${string(`${agent} ${name}`)}, ${string(version)}, 'Other', false`,
    sql`INSERT INTO referrers (key, version, name, kind) SELECT ${string(`${name}.example.org`)}, ${string(version)}, 'Other', 'search'`,
  ]
  const inserts = [
    ...writeInserts('rules of old', 'old'),
    ...writeInserts(AGENTS_VERSION, 'new'),
    ...writeInserts(REFERRERS_VERSION, 'new'),
  ]
  for (const insert of inserts) await writer.execute(statement(insert))
  const visit = (name: string): Fields => ({
    user_agent: `${agent} ${name}`,
    referrer_url: `https://${name}.example.org/`,
  })
  expect(await stored([visit('old'), visit('new')], ALL)).toEqual([
    { ...LINUX, referrer: 'old.example.org', referrer_type: 'unknown' },
    { ...UNKNOWN, browser: 'Other', referrer: 'Other', referrer_type: 'search' },
  ])
})

test('each attribute of the event takes precedence', async () => {
  const visit = { user_agent: FIREFOX, referrer_url: SEARCH }
  const cases = [
    [{}, {}],
    [{ browser: 'Mine' }, { browser: 'Mine' }],
    [{ os: 'Mine' }, { os: 'Mine' }],
    [{ device_type: 'fridge' }, { device_type: 'fridge' }],
    [{ referrer: 'Mine' }, { referrer: 'Mine', referrer_type: 'unknown' }],
    [{ referrer_type: 'Mine' }, { referrer_type: 'Mine' }],
    [
      { referrer_type: 'Mine', referrer: 'Yours' },
      { referrer_type: 'Mine', referrer: 'Yours' },
    ],
    [{ browser: '', os: null }, {}],
  ] as const
  const rows = await stored(
    cases.map(([given]) => ({ ...visit, ...given })),
    ALL,
  )
  expect(cases.map(([given], n) => [given, rows[n]])).toEqual(
    cases.map(([given, want]) => [given, { ...LINUX, ...GOOGLE, ...want }]),
  )
})

test('a later event does not change its session, and a bot joins none', async () => {
  const { store } = database
  const { id } = await newProject(store)
  const visit = (minute: number, fields: Fields): object => ({
    timestamp: `2026-01-31T10:${minute}:00Z`,
    user_id: 'u',
    ...fields,
  })
  await feed(store, id, [visit(10, { user_agent: FIREFOX, referrer_url: SEARCH, path: '/1' })])
  await loadInbox(store)
  const before = await readFacts(store, id)
  expect(before).toMatchObject([{ ...LINUX, ...GOOGLE, pageviews: 1 }])
  await feed(store, id, [visit(20, { user_agent: 'Googlebot/2.1' })])
  await loadInbox(store)
  expect(await readFacts(store, id)).toEqual(before)
  await feed(store, id, [
    visit(30, { user_agent: CHROME, path: '/2' }),
    visit(15, { user_agent: 'curl/8.5.0' }),
    visit(59, { user_agent: 'Googlebot/2.1' }),
  ])
  await loadInbox(store)
  expect(await readFacts(store, id)).toMatchObject([
    { ...LINUX, ...GOOGLE, pageviews: 2, entry_path: '/1', end_at: '2026-01-31 10:30:00.000' },
  ])
  // An earlier event defines the session; attributes that it lacks are empty.
  await feed(
    store,
    id,
    [visit(5, { user_agent: CHROME, path: '/0' })].map((row) => ({
      ...row,
      timestamp: '2026-01-31T09:50:00Z',
    })),
  )
  await loadInbox(store)
  expect(await readFacts(store, id)).toMatchObject([
    { browser: 'Chrome', os: 'Windows', ...DIRECT, pageviews: 3, entry_path: '/0' },
  ])
  await expectConsistentFacts(store, id)
})
