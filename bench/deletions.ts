/** Measures deletions of users and of old days while events come in, and what they do to the queries of another project. */
import { setTimeout as sleep } from 'node:timers/promises'
import { readStates } from '../src/changes/states.js'
import { sql, statement, string, uint32 } from '../src/clickhouse/sql.js'
import type { Store } from '../src/clickhouse/store.js'
import { MAX_DELETED_USERS } from '../src/deletion/delete-users.js'
import { forceExpiration } from '../src/deletion/expire-projects.js'
import { createLogger } from '../src/lib/log.js'
import { DAY_MS } from '../src/lib/time.js'
import { markCut, requireProject } from '../src/projects/store.js'
import { agreeOn } from '../test/support/store/clocks.js'
import { createContext, deleteUsers, startStreamingLoader } from '../test/support/store/loading.js'
import { feed } from '../test/support/store/stream.js'
import { runQuery } from '../test/support/world/world.js'
import { generateYear, LARGE, SMALL } from './reads/generate.js'
import { openBenchStore, withDataFolder } from './shared/data-folder.js'
import {
  formatTenths,
  formatWhole,
  measureMs,
  printMachine,
  printTable,
  summarize,
} from './shared/figures.js'

const EVENTS = Number(process.env['EVENTS'] ?? 2_000_000)
const EVENTS_PER_SECOND = 500
const QUIET_MS = 20_000
/** All days before it expire: ten and a half of twelve months. */
const FIRST_KEPT = new Date('2025-11-16T00:00:00Z')
const QUERY = {
  date_range: ['2025-06-01', '2025-06-30'] as const,
  metrics: ['users', 'visits', 'pageviews'] as const,
  group_by: ['country'] as const,
}

/** Repeats `work` at an interval, in milliseconds. Returns a function that stops it and rejects as it did. */
function repeat(work: () => Promise<unknown>, everyMs: number): () => Promise<void> {
  const stopping = new AbortController()
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const ms = await measureMs(work)
      await sleep(Math.max(0, everyMs - ms))
    }
  }
  const ended = run()
  ended.catch(() => undefined)
  return () => {
    stopping.abort()
    return ended
  }
}

/** Feeds a second of events, of other users than those that are deleted. */
const feedSecond = (store: Store): Promise<void> =>
  feed(
    store,
    LARGE,
    Array.from({ length: EVENTS_PER_SECOND }, (_, i) => ({
      timestamp: new Date().toISOString(),
      user_id: `new-${i}`,
      path: '/',
    })),
  )

async function chooseUsers({ reader }: Store, users: number): Promise<readonly string[]> {
  const { rows } = await reader.query<{ id: string }>(
    statement(sql`
SELECT user_id AS id FROM users WHERE project_id = ${string(LARGE)} AND NOT startsWith(user_id, 'new-')
ORDER BY cityHash64(user_id) LIMIT ${uint32(users)}`),
  )
  return rows.map(({ id }) => id)
}

async function expire(store: Store): Promise<void> {
  const now = new Date()
  const keepDays = Math.floor((now.getTime() - FIRST_KEPT.getTime()) / DAY_MS)
  const options = {
    logger: createLogger('silent'),
    markCut: (id: string) => markCut(store.writer, id),
  }
  const project = await requireProject(store.reader, LARGE)
  const stores = [{ store, context: createContext() }]
  await forceExpiration(options, stores, { ...project, keepDays }, [agreeOn(now)])
}

/** Waits until no query sees the rows that are being deleted. */
async function waitUntilHidden({ reader }: Store, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const states = await readStates(reader, sql`project_id = ${string(LARGE)}`, signal)
    if (states.some(({ isHiding }) => isHiding)) return
    await sleep(50)
  }
}

interface Measured {
  /** Until no query sees the rows, and until they are gone. */
  readonly hiddenMs: number
  readonly ms: number
  /** The median of the other project's query meanwhile. */
  readonly queryMs: number
}

/** Repeats a query of another project while `work` runs. */
async function measure(store: Store, work: () => Promise<unknown>): Promise<Measured> {
  const project = await requireProject(store.reader, SMALL)
  const times: number[] = []
  const ask = async (): Promise<void> => {
    times.push(await measureMs(() => runQuery(store, project, QUERY)))
  }
  await ask()
  times.length = 0
  const stop = repeat(ask, 100)
  const ended = new AbortController()
  const hidden = measureMs(() => waitUntilHidden(store, ended.signal)).catch(() => NaN)
  const ms = await measureMs(work)
  ended.abort()
  await stop()
  return { hiddenMs: await hidden, ms, queryMs: summarize(times).median }
}

async function run(dataDir: string): Promise<void> {
  const opened = await openBenchStore(dataDir)
  const { store } = opened
  try {
    await generateYear(store, EVENTS)
    const loader = startStreamingLoader({ store, logger: createLogger('silent') })
    const stopFeed = repeat(() => feedSecond(store), 1_000)
    const { queryMs: quiet } = await measure(store, () => sleep(QUIET_MS))
    const deleteSome = async (users: number): Promise<unknown> =>
      deleteUsers(store, LARGE, await chooseUsers(store, users))
    const deletions: Readonly<Record<string, () => Promise<unknown>>> = {
      'a user': () => deleteSome(1),
      [`${formatWhole(MAX_DELETED_USERS)} users`]: () => deleteSome(MAX_DELETED_USERS),
      'the days before the last 45': () => expire(store),
    }
    const lines: string[][] = []
    for (const [name, work] of Object.entries(deletions)) {
      const { hiddenMs, ms, queryMs } = await measure(store, work)
      lines.push([
        name,
        formatTenths(hiddenMs / 1_000),
        formatTenths(ms / 1_000),
        formatTenths(queryMs),
        (queryMs / quiet).toFixed(2),
      ])
    }
    await stopFeed()
    await loader.stop()
    await printMachine(new Date())
    console.log(
      `about ${formatWhole(EVENTS)} events, ${EVENTS_PER_SECOND} more per second; the query without a deletion: ${formatTenths(quiet)} ms\n`,
    )
    printTable(
      ['deleted', 'seconds until hidden', 'seconds until gone', 'query meanwhile, ms', 'ratio'],
      lines,
    )
  } finally {
    await opened.close()
  }
}

await withDataFolder(run)
