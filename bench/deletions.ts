/** Measures deletions of users and of old days while events come in, and what they do to the queries of another project. */
import { setTimeout as sleep } from 'node:timers/promises'
import { readStates } from '../src/changes/states.js'
import { sql, statement, string, time, uint32 } from '../src/clickhouse/sql.js'
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
/** The data of the benchmark begins with it. Five years of events are added before. */
const YEAR_START = new Date('2025-01-01T00:00:00Z')
const OLD_DAYS = 5 * 365
const OLD_EVENTS = 100_000
/** How many of them are fed at once. */
const FED_AT_ONCE = 10_000
/** A user who has a thousand of them. */
const OFTEN = 'often'
const OFTEN_EVENTS = 1_000
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

/** Adds events of five years before the data of the benchmark, and waits until they are loaded. */
async function feedYears(store: Store): Promise<void> {
  for (let fed = 0; fed < OLD_EVENTS; fed += FED_AT_ONCE) {
    const events = Array.from({ length: FED_AT_ONCE }, (_, i) => {
      const n = fed + i
      const at = YEAR_START.getTime() - 1 - Math.floor(((n + 0.5) / OLD_EVENTS) * OLD_DAYS * DAY_MS)
      return {
        timestamp: new Date(at).toISOString(),
        user_id: n % (OLD_EVENTS / OFTEN_EVENTS) === 0 ? OFTEN : `old-${n % 20_000}`,
        path: `/page/${n % 500}`,
        country: ['DE', 'FR', 'BA'][n % 3],
      }
    })
    await feed(store, LARGE, events)
  }
  const isLoaded = async (): Promise<boolean> => {
    const { rows } = await store.reader.query<{ events: number }>(
      statement(sql`
SELECT toFloat64(count()) AS events FROM events
WHERE project_id = ${string(LARGE)} AND timestamp < ${time(YEAR_START)}`),
    )
    return rows[0]?.events === OLD_EVENTS
  }
  while (!(await isLoaded())) await sleep(500)
}

async function chooseUsers({ reader }: Store, users: number): Promise<readonly string[]> {
  const { rows } = await reader.query<{ id: string }>(
    statement(sql`
SELECT user_id AS id FROM users WHERE project_id = ${string(LARGE)} AND NOT match(user_id, '^(new-|old-|often)')
ORDER BY cityHash64(user_id) LIMIT ${uint32(users)}`),
  )
  return rows.map(({ id }) => id)
}

/** Deletes all days of the large project before one. */
async function expire(store: Store, firstKept: Date): Promise<void> {
  const now = new Date()
  const keepDays = Math.floor((now.getTime() - firstKept.getTime()) / DAY_MS)
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
    await feedYears(store)
    const stopFeed = repeat(() => feedSecond(store), 1_000)
    const { queryMs: quiet } = await measure(store, () => sleep(QUIET_MS))
    const deleteSome = async (users: number): Promise<unknown> =>
      deleteUsers(store, LARGE, await chooseUsers(store, users))
    const deletions: Readonly<Record<string, () => Promise<unknown>>> = {
      'a user': () => deleteSome(1),
      [`a user with ${formatWhole(OFTEN_EVENTS)} events`]: () => deleteUsers(store, LARGE, [OFTEN]),
      [`${formatWhole(MAX_DELETED_USERS)} users`]: () => deleteSome(MAX_DELETED_USERS),
      'five years of six': () => expire(store, YEAR_START),
      'the days before the last 45': () => expire(store, FIRST_KEPT),
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
