/** Measures loading: events a second from a file to visible, and the time of each step of it. */
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import type { Connection } from '../src/clickhouse/connection.js'
import { startEngine } from '../src/clickhouse/embedded/engine.js'
import { migrate } from '../src/clickhouse/migrate.js'
import type { Statement } from '../src/clickhouse/sql.js'
import { openStore, type Store } from '../src/clickhouse/store.js'
import { importEvents } from '../src/ingest/import.js'
import { createProject } from '../src/projects/store.js'

const MEGABYTE = 1024 * 1024

/** What one run sends: `make` gives the nth event of it. */
interface Run {
  readonly name: string
  readonly events: number
  readonly make: (n: number) => Readonly<Record<string, unknown>>
}

const START = Date.parse('2026-01-01T00:00:00Z')
const COUNTRIES = ['DE', 'FR', 'US', 'GB', 'NL', 'BR', 'IN', 'JP']
const BROWSERS = ['Chrome', 'Safari', 'Firefox', 'Edge']

/** Spread, and the same in every run. */
const scatter = (n: number): number => ((n * 2_654_435_761) >>> 0) / 2 ** 32

/** Sessions of eight events, in order of time; few users have many of them. */
const explicit = (n: number): Readonly<Record<string, unknown>> => {
  const session = Math.floor(n / 8)
  const user = Math.floor(scatter(session) ** 3 * 50_000)
  return {
    timestamp: new Date(START + session * 1_200 + (n % 8) * 20_000).toISOString(),
    event_id: `e${n}`,
    name: n % 8 === 7 ? 'signup' : 'pageview',
    user_id: `user-${user}`,
    origin: 'https://example.com',
    path: `/articles/${Math.floor(scatter(n) ** 2 * 5_000)}`,
    country: COUNTRIES[user % 8],
    city: `City ${user % 500}`,
    browser: BROWSERS[user % 4],
    os: 'Windows',
    device_type: user % 3 === 0 ? 'mobile' : 'desktop',
    referrer: user % 5 === 0 ? 'Google' : '',
    referrer_type: user % 5 === 0 ? 'search' : 'direct',
    properties: { plan: user % 10 === 0 ? 'pro' : 'free' },
  }
}

/** As a browser sends them: everything is to be taken from the URLs, the address and the agent. */
const derived = (n: number): Readonly<Record<string, unknown>> => {
  const session = Math.floor(n / 8)
  const visitor = Math.floor(scatter(session) ** 3 * 50_000)
  return {
    timestamp: new Date(START + session * 1_200 + (n % 8) * 20_000).toISOString(),
    url: `https://example.com/articles/${n % 5_000}?utm_source=news&utm_campaign=may+${n % 9}#top`,
    referrer_url: 'https://www.google.com/',
    ip: `10.${visitor >> 8}.${visitor & 255}.1`.replace(/\.(\d{3,})\./, '.7.'),
    user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0',
  }
}

const RUNS: readonly Run[] = [
  { name: 'warm-up', events: 20_000, make: explicit },
  { name: '1,000,000 events with all fields', events: 1_000_000, make: explicit },
  { name: 'the same again: all duplicates', events: 1_000_000, make: explicit },
  { name: '300,000 events as browsers send them', events: 300_000, make: derived },
  { name: 'one event', events: 1, make: explicit },
]

/** The bytes of a run, made ahead so that making them is not measured. */
function chunksOf({ events, make }: Run): readonly Buffer[] {
  const chunks: Buffer[] = []
  for (let from = 0; from < events; from += 10_000) {
    const count = Math.min(10_000, events - from)
    const lines = Array.from({ length: count }, (_, i) => `${JSON.stringify(make(from + i))}\n`)
    chunks.push(Buffer.from(lines.join('')))
  }
  return chunks
}

async function* stream(chunks: readonly Buffer[]): AsyncGenerator<Buffer> {
  for (const chunk of chunks) yield await Promise.resolve(chunk)
}

/** What a statement does to which table; those of loads and leases name theirs by a parameter. */
const STEP =
  /\b(CREATE TABLE|DROP TABLE|INSERT INTO|DELETE FROM)\s+(?:IF EXISTS\s+)?(?:\{(\w+):Identifier\}|(\w+))/

function stepOf({ query, query_params }: Statement): string {
  const [, what, parameter, table] = STEP.exec(query) ?? []
  if (what === undefined) return 'the rest'
  const name = table ?? String(query_params[parameter ?? ''])
  return name.startsWith('lease') ? 'the rest' : `${what} ${name.replace(/^load_\d+_/, 'load_')}`
}

/** Adds up the time of statements by what they write. */
function timed(connection: Connection, times: Map<string, number>): Connection {
  const measure = async <T>(statement: Statement, work: Promise<T>): Promise<T> => {
    const begun = performance.now()
    const result = await work
    const name = stepOf(statement)
    times.set(name, (times.get(name) ?? 0) + performance.now() - begun)
    return result
  }
  return {
    ...connection,
    query: (statement, options) => measure(statement, connection.query(statement, options)),
    execute: (statement, settings) => measure(statement, connection.execute(statement, settings)),
    upload: (statement, bytes, settings) =>
      measure(statement, connection.upload(statement, bytes, settings)),
  }
}

async function measure(store: Store, run: Run): Promise<void> {
  const chunks = chunksOf(run)
  const size = chunks.reduce((sum, { length }) => sum + length, 0)
  const times = new Map<string, number>()
  const begun = performance.now()
  const report = await importEvents(
    { ...store, writer: timed(store.writer, times) },
    stream(chunks),
    {
      projectId: 'bench',
      onRejected: (rows) => {
        throw new Error(rows[0]?.reason)
      },
    },
  )
  const seconds = (performance.now() - begun) / 1_000
  console.log(
    `\n${run.name}: ${seconds.toFixed(2)} s, ${Math.round(run.events / seconds)} events/s, ${(size / MEGABYTE).toFixed(1)} MB; ${report.events} new`,
  )
  for (const [name, ms] of [...times].sort((a, b) => b[1] - a[1])) {
    if (ms / 1_000 > seconds / 200)
      console.log(`  ${(ms / 1_000).toFixed(3).padStart(8)} s  ${name}`)
  }
}

const dataDir = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-bench-'))
const engine = await startEngine({ dataDir, purpose: 'bench:load' })
try {
  await migrate(engine.endpoint)
  const store = openStore(engine.endpoint)
  await createProject(store, { id: 'bench', name: 'Bench', domain: 'example.com' }, new Date(START))
  for (const run of RUNS) await measure(store, run)
  await store.close()
} finally {
  await engine.stop()
  await rm(dataDir, { recursive: true })
}
