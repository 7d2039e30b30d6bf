/** Measures the deletion of many users while events come in, and what it does to a query meanwhile. */
import { setTimeout as sleep } from 'node:timers/promises'
import { MAX_DELETED_USERS } from '../src/deletion/delete-users.js'
import { sql, statement, string, uint32 } from '../src/clickhouse/sql.js'
import type { Store } from '../src/clickhouse/store.js'
import { createLogger } from '../src/lib/log.js'
import { requireProject } from '../src/projects/store.js'
import { deleteUsers, startStreamingLoader } from '../test/support/store/loading.js'
import { feed } from '../test/support/store/stream.js'
import { runQuery } from '../test/support/world/world.js'
import { generateYear, LARGE } from './reads/generate.js'
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
const USERS = Number(process.env['USERS'] ?? MAX_DELETED_USERS)
const EVENTS_PER_SECOND = 500
const QUIET_MS = 20_000
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

async function chooseUsers({ reader }: Store): Promise<readonly string[]> {
  const { rows } = await reader.query<{ id: string }>(
    statement(sql`
SELECT user_id AS id FROM users WHERE project_id = ${string(LARGE)} AND NOT startsWith(user_id, 'new-')
ORDER BY cityHash64(user_id) LIMIT ${uint32(USERS)}`),
  )
  return rows.map(({ id }) => id)
}

/** Repeats the query while `work` runs. Returns its median time in milliseconds. */
async function measureQuery(store: Store, work: () => Promise<unknown>): Promise<number> {
  const project = await requireProject(store.reader, LARGE)
  const times: number[] = []
  const ask = async (): Promise<void> => {
    times.push(await measureMs(() => runQuery(store, project, QUERY)))
  }
  await ask()
  times.length = 0
  const stop = repeat(ask, 100)
  await work()
  await stop()
  return summarize(times).median
}

async function run(dataDir: string): Promise<void> {
  const opened = await openBenchStore(dataDir)
  const { store } = opened
  try {
    await generateYear(store, EVENTS)
    const userIds = await chooseUsers(store)
    const loader = startStreamingLoader({ store, logger: createLogger('silent') })
    const stopFeed = repeat(() => feedSecond(store), 1_000)
    const quiet = await measureQuery(store, () => sleep(QUIET_MS))
    let deleted = { users: 0, events: 0 }
    let ms = 0
    const during = await measureQuery(store, async () => {
      ms = await measureMs(async () => (deleted = await deleteUsers(store, LARGE, userIds)))
    })
    await stopFeed()
    await loader.stop()
    await printMachine(new Date())
    console.log(`about ${formatWhole(EVENTS)} events, ${EVENTS_PER_SECOND} more per second\n`)
    printTable(
      ['users', 'their events', 'seconds', 'query before ms', 'meanwhile ms', 'ratio'],
      [
        [
          formatWhole(deleted.users),
          formatWhole(deleted.events),
          formatTenths(ms / 1_000),
          formatTenths(quiet),
          formatTenths(during),
          formatTenths(during / quiet),
        ],
      ],
    )
  } finally {
    await opened.close()
  }
}

await withDataFolder(run)
