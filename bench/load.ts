/** Measures loading: events per second from a file until they are visible, and the time of each step. */
import type { Connection } from '../src/clickhouse/connection.js'
import type { Statement } from '../src/clickhouse/sql.js'
import type { Store } from '../src/clickhouse/store.js'
import { PROJECT, withFreshStore } from './shared/fresh-store.js'
import {
  ARRIVAL,
  createChunks,
  createBrowserEvent,
  createFullEvent,
  streamChunks,
  type Run,
} from './shared/loading.js'
import { MAX_EVENT_AGE_DAYS } from './shared/data-folder.js'
import { createLoaderContext } from '../src/bootstrap/open-store.js'
import { importEvents } from '../src/ingest/import/import-events.js'

const MEGABYTE = 1024 * 1024

const RUNS: readonly Run[] = [
  { name: 'warm-up', events: 20_000, make: createFullEvent },
  { name: '1,000,000 events with all fields', events: 1_000_000, make: createFullEvent },
  { name: 'the same again: all duplicates', events: 1_000_000, make: createFullEvent },
  { name: '1,000,000 events as browsers send them', events: 1_000_000, make: createBrowserEvent },
  { name: 'one event', events: 1, make: createFullEvent },
]

/** What a statement does to which table. Statements of loads and leases name the table in a parameter. */
const STEP =
  /\b(CREATE TABLE|DROP TABLE|INSERT INTO|DELETE FROM)\s+(?:IF EXISTS\s+)?(?:\{(\w+):Identifier\}|(\w+))/

function classifyStatement({ query, query_params }: Statement): string {
  const [, what, parameter, table] = STEP.exec(query) ?? []
  if (what === undefined) return 'the rest'
  const name = table ?? String(query_params[parameter ?? ''])
  return name.startsWith('lease') ? 'the rest' : `${what} ${name.replace(/^load_\d+_/, 'load_')}`
}

/** Wraps a connection: adds up the time of its statements by what they write. */
function timeStatements(connection: Connection, times: Map<string, number>): Connection {
  const measure = async <T>(statement: Statement, work: Promise<T>): Promise<T> => {
    const begun = performance.now()
    const result = await work
    const name = classifyStatement(statement)
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
  const chunks = createChunks(run)
  const size = chunks.reduce((sum, { length }) => sum + length, 0)
  const times = new Map<string, number>()
  const begun = performance.now()
  const report = await importEvents(
    { ...store, writer: timeStatements(store.writer, times) },
    streamChunks(chunks),
    {
      now: ARRIVAL,
      identity: run.name,
      projectId: PROJECT,
      loader: createLoaderContext(MAX_EVENT_AGE_DAYS),
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

await withFreshStore(async (store) => {
  for (const run of RUNS) await measure(store, run)
})
