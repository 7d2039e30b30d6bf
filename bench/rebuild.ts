/** Measures a rebuild and a check of the rollups, and how long a load waits meanwhile. */
import { setTimeout as sleep } from 'node:timers/promises'
import { withLease } from '../src/clickhouse/lease/lease.js'
import { sql, statement, string } from '../src/clickhouse/sql.js'
import type { Store } from '../src/clickhouse/store.js'
import { checkRollups, rebuildRollups } from '../test/support/store/loading.js'
import { generateYear } from './reads/generate.js'
import { formatTenths, formatWhole, measureMs, printMachine, printTable } from './shared/figures.js'
import { openBenchStore, withDataFolder } from './shared/data-folder.js'

const EVENTS = Number(process.env['EVENTS'] ?? 5_000_000)
const PROBE_PAUSE_MS = 500

/** What the statements of ClickHouse took since a moment. */
interface Cost {
  /** Seconds of CPU time. */
  readonly cpu: number
  /** The most memory of one statement, in MB. */
  readonly memory: number
  /** The longest statement, in seconds. */
  readonly longest: number
}

async function readCost({ admin }: Store, since: number): Promise<Cost> {
  await admin.execute(statement(sql`SYSTEM FLUSH LOGS query_log`))
  const { rows } = await admin.query<Cost>(
    statement(sql`
SELECT
  sum(ProfileEvents['UserTimeMicroseconds'] + ProfileEvents['SystemTimeMicroseconds']) / 1e6 AS cpu,
  max(memory_usage) / 1e6 AS memory, max(query_duration_ms) / 1e3 AS longest
FROM system.query_log
WHERE type = 'QueryFinish' AND event_time_microseconds >= fromUnixTimestamp64Milli(toInt64(${string(String(since))}))`),
  )
  return rows[0]!
}

/** Takes the loader lease again and again, as a load does. Returns a function that stops it and returns the longest wait. */
function probeLease({ writer }: Store): () => Promise<number> {
  const stopping = new AbortController()
  let longest = 0
  const probe = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const begun = performance.now()
      await withLease(writer, 'loader', () => {
        longest = Math.max(longest, performance.now() - begun)
        return Promise.resolve()
      })
      await sleep(PROBE_PAUSE_MS)
    }
  }
  const ended = probe()
  return async () => {
    stopping.abort()
    await ended
    return longest
  }
}

async function measure(
  store: Store,
  name: string,
  work: () => Promise<unknown>,
): Promise<readonly string[]> {
  const since = Date.now()
  const stop = probeLease(store)
  const ms = await measureMs(work)
  const waited = await stop()
  const { cpu, memory, longest } = await readCost(store, since)
  return [
    name,
    formatTenths(ms / 1_000),
    formatTenths(cpu),
    formatWhole(memory),
    formatTenths(longest),
    formatTenths(waited / 1_000),
  ]
}

async function run(dataDir: string): Promise<void> {
  const opened = await openBenchStore(dataDir)
  const { store } = opened
  try {
    await generateYear(store, EVENTS)
    const lines = [
      await measure(store, 'rebuild', () => rebuildRollups(store.writer, {})),
      await measure(store, 'check', async () => {
        const { different } = await checkRollups(store.writer, {})
        if (different > 0) throw new Error(`${different} groups differ`)
      }),
    ]
    await printMachine(new Date())
    console.log(`about ${formatWhole(EVENTS)} events\n`)
    printTable(
      ['work', 'seconds', 'CPU s', 'memory MB', 'longest statement s', 'a load waits s'],
      lines,
    )
  } finally {
    await opened.close()
  }
}

await withDataFolder(run)
