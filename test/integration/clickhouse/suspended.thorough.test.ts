/** A process is suspended within a statement for longer than its lease lasts, while another one loads. */
import { expect, test } from '@jest/globals'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { sql, string } from '../../../src/clickhouse/sql.js'
import type { Store } from '../../../src/clickhouse/store.js'
import { createRandom, type Random } from '../../../src/demo/random.js'
import { UserError } from '../../../src/lib/errors.js'
import { findProject } from '../../../src/projects/store.js'
import { packagePath } from '../../../src/lib/package-path.js'
import { toCluster } from '../../../src/cluster/cluster.js'
import { scaled } from '../../support/effort.js'
import { expectConsistent } from '../../support/kills/check.js'
import {
  GONE,
  KEEP_DAYS,
  KEPT_FROM,
  SHOP,
  SUSPENDED,
  TASKS,
  TODAY,
  type SuspendedTask,
  type Task,
  type TaskEnd,
} from '../../support/kills/tasks.js'
import { createDatabase } from '../../support/store/database.js'
import { select } from '../../support/store/facts.js'
import { checkRollups, finishInterruptedWork } from '../../support/store/loading.js'
import { recordVersions } from '../../support/store/versions.js'
import {
  newProject,
  runQuery,
  send,
  type PartialRequest,
  type SentEvent,
} from '../../support/world/world.js'

/** 200 suspensions take a quarter of an hour. */
const SUSPENSIONS = scaled(1)
const SEED = Number(process.env['SUSPENSIONS_SEED'] ?? Math.floor(Math.random() * 1e9))
/** How many processes are suspended at once, each in a database of its own. */
const AT_ONCE = 4
/** Longer than the lease of a silent holder lasts. */
const SUSPENDED_MS = 11_000
const OTHER = 'other'
const NAMES = Object.keys(TASKS) as Task[]

/** Events of 15 users in two months; sessions over their border; every fifth user is to be deleted. */
const createEvents = (random: Random, count: number): readonly SentEvent[] =>
  Array.from({ length: count }, (_, n) => ({
    timestamp: new Date(
      Date.parse(n % 4 === 0 ? '2026-01-31T23:40:00Z' : '2026-01-05T00:00:00Z') +
        random.below(n % 4 === 0 ? 2_400 : 44 * 86_400) * 1_000,
    ).toISOString(),
    user_id: n % 5 === 0 ? GONE : `u${random.below(15)}`,
    name: random.chance(0.3) ? 'signup' : 'pageview',
    path: `/${random.below(6)}`,
    country: ['DE', 'FR', 'AT'][random.below(3)]!,
  }))

/** Equal as long as a service may give its answers again. */
const QUESTIONS: readonly PartialRequest[] = [
  {
    date_range: ['2026-01-01', '2026-02-28'],
    metrics: ['users', 'pageviews', 'events', 'bounce_rate'],
  },
  { date_range: 'all', group_by: ['page:path'], metrics: ['users', 'pageviews'] },
  { date_range: ['2026-01-05T10:00:00Z', '2026-02-17T11:00:00Z'], group_by: ['interval:auto'] },
]

/** Starts the task in a process, and waits until it is suspended or has ended. */
async function startTask(task: SuspendedTask) {
  const script = packagePath('test/support/kills/suspended-process.ts')
  const child = spawn(process.execPath, ['--import', 'tsx', script, JSON.stringify(task)], {
    cwd: packagePath('.'),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  const closed = once(child, 'close')
  const suspended = new Promise<void>((resolve) => {
    child.stdout.on('data', (data: Buffer) => {
      output += data.toString()
      if (output.startsWith(SUSPENDED)) resolve()
    })
  })
  await Promise.race([suspended, closed])
  return {
    kill: () => child.kill('SIGKILL'),
    resume: async (): Promise<TaskEnd> => {
      child.kill('SIGCONT')
      await closed
      return JSON.parse(output.replace(SUSPENDED, '')) as TaskEnd
    },
  }
}

/** Loads events, again and again until the lease of the suspended process has expired. Returns those of both projects. */
async function loadMeanwhile(store: Store, task: Task, random: Random): Promise<SentEvent[][]> {
  const sent: SentEvent[][] = [[], []]
  const until = performance.now() + SUSPENDED_MS
  do {
    for (const [i, id] of [OTHER, SHOP].entries()) {
      if (id === SHOP && task === 'delete a project') continue
      const events = createEvents(random, 8).filter(({ user_id }) => user_id !== GONE)
      await send(store, { id }, events)
      sent[i]!.push(...events)
    }
  } while (performance.now() < until)
  return sent
}

const countEvents = async (store: Store, project: string): Promise<number> =>
  (
    await select<{ n: number }>(
      store,
      sql`SELECT count() AS n FROM events WHERE project_id = ${string(project)}`,
    )
  )[0]!.n

/** How many of the events of the shop remain after the task. */
const countKept = (task: Task, events: readonly SentEvent[]): number =>
  ({
    'rebuild the rollups': events,
    'delete a user': events.filter(({ user_id }) => user_id !== GONE),
    'delete a project': [],
    'delete what is kept no longer': events.filter(({ timestamp }) => timestamp >= KEPT_FROM),
  })[task].length

async function suspendOnce(n: number): Promise<object> {
  const random = createRandom(SEED, n)
  const task = NAMES[n % NAMES.length]!
  const at = 1 + random.below(TASKS[task].statements)
  const afterMs = random.chance(0.5) ? random.below(25) : undefined
  const story = { seed: SEED, n, task, at, afterMs }
  const database = await createDatabase()
  const { endpoint, store } = database
  await newProject(store, { id: OTHER })
  const keepDays = task === 'delete what is kept no longer' ? KEEP_DAYS : null
  await newProject(store, { id: SHOP, keepDays })
  const today = { timestamp: TODAY, user_id: 'u1', path: '/' }
  const first = [createEvents(random, 60), [...createEvents(random, 60), today]]
  await send(store, { id: OTHER }, first[0]!)
  await send(store, { id: SHOP }, first[1]!)

  // A project that is being deleted has no key with which anybody could ask.
  const asked = task === 'delete a project' ? [OTHER] : [OTHER, SHOP]
  const projects = new Map(
    await Promise.all(
      asked.map(async (id) => [id, (await findProject(store.reader, id))!] as const),
    ),
  )
  const recorder = recordVersions(store, asked, async (id) =>
    JSON.stringify(
      await Promise.all(QUESTIONS.map((question) => runQuery(store, projects.get(id)!, question))),
    ),
  )
  const child = await startTask({ endpoint, task, at, afterMs })
  try {
    const sent = await loadMeanwhile(store, task, random)
    const end = await child.resume()
    Object.assign(story, end)
    // The loads have counted everything, and a rebuild that was suspended has undone nothing of it.
    if (task === 'rebuild the rollups') {
      const { differences } = await checkRollups(store.writer, {})
      expect(differences).toEqual([])
    }
    // Work that was interrupted is called again; another process may have finished its work meanwhile.
    await TASKS[task].run(store).catch((error: unknown) => {
      if (!(error instanceof UserError)) throw error
    })
    await finishInterruptedWork(store.writer)
    Object.assign(story, await recorder.stop())
    expect(recorder.found.different).toEqual([])
    expect(recorder.found.versions).toBeGreaterThan(1)
    expect({
      other: await countEvents(store, OTHER),
      shop: await countEvents(store, SHOP),
    }).toEqual({
      other: first[0]!.length + sent[0]!.length,
      shop: countKept(task, [...first[1]!, ...sent[1]!]),
    })
    await expectConsistent(toCluster(store), OTHER)
    // Sessions that began before the first kept day are deleted without their later events.
    if (keepDays === null) await expectConsistent(toCluster(store), SHOP)
  } catch (error) {
    process.stderr.write(`${JSON.stringify(story)}\n`)
    throw error
  } finally {
    await recorder.stop()
    child.kill()
    await database.drop()
  }
  return story
}

test(
  `with ${SUSPENSIONS} suspensions`,
  async () => {
    const stories: object[] = []
    for (let n = 0; n < SUSPENSIONS; n += AT_ONCE) {
      const size = Math.min(AT_ONCE, SUSPENSIONS - n)
      stories.push(
        ...(await Promise.all(Array.from({ length: size }, (_, i) => suspendOnce(n + i)))),
      )
    }
    if (SUSPENSIONS > 10) {
      for (const story of stories) process.stderr.write(`${JSON.stringify(story)}\n`)
    }
  },
  120_000 + SUSPENSIONS * 30_000,
)
