/** Measures queries across a thousand projects beside a thousand queries about one project each. */
import { randomUUID } from 'node:crypto'
import { QUERY } from '../src/analytics/operations/query.js'
import { runAcrossProjects } from '../src/analytics/across/run-across-projects.js'
import { createQueryRunner } from '../src/clickhouse/run.js'
import { join, sql, statement, uint32, type Sql } from '../src/clickhouse/sql.js'
import type { Store } from '../src/clickhouse/store.js'
import { EMPTY_REPORT } from '../src/ingest/loader/load-report.js'
import { takeBatch } from '../src/ingest/loader/load-source.js'
import { findLoad, NO_ROWS, recordLoaded, STEP } from '../src/ingest/loader/load-log.js'
import { findFirstEventTimeOfAny } from '../src/projects/event-times.js'
import { readProjectSizes } from '../src/projects/project-sizes.js'
import type { StoredProject } from '../src/projects/project.js'
import { createProject, listProjects } from '../src/projects/store.js'
import { rebuildRollups } from '../test/support/store/loading.js'
import { fillAcross, type PartialAcross } from '../test/support/world/across.js'
import { answer, fillDefaults } from '../test/support/world/world.js'
import {
  computeScale,
  INDEX_USERS,
  INSERT_USERS,
  insertEvents,
  insertSessions,
} from './reads/generate-sql.js'
import { readCpuMs } from './shared/cpu-times.js'
import { openBenchStore, withDataFolder } from './shared/data-folder.js'
import {
  formatTenths,
  formatWhole,
  measureMs,
  printMachine,
  printTable,
  summarize,
} from './shared/figures.js'

/** The events of all projects together, in the last days of 2025. */
const EVENTS = Number(process.env['EVENTS'] ?? 3_000_000)
const PROJECTS = Number(process.env['PROJECTS'] ?? 1_000)
const RUNS = Number(process.env['RUNS'] ?? 11)
const DAYS = 65
const BATCH = `bench-across-${EVENTS}-${PROJECTS}`
const NOW = new Date('2025-12-31T12:34:56Z')
const METRICS = ['users', 'pageviews', 'events', 'bounce_rate', 'visit_duration'] as const

const WHOLE_DAYS = ['2025-12-01', '2025-12-30'] as const
const QUESTIONS: Readonly<Record<string, PartialAcross>> = {
  '30 whole days': { date_range: WHOLE_DAYS },
  '30 days up to now': { date_range: '30days' },
  '30 days up to now, in Berlin': { date_range: '30days', time_zone: 'Europe/Berlin' },
  '30 whole days, users alone': { date_range: WHOLE_DAYS, metrics: ['users'] },
  '30 whole days, compared': { date_range: WHOLE_DAYS, compare: 'previous_period' },
  '30 whole days, new users': { date_range: WHOLE_DAYS, metrics: ['new_users'] },
  '30 whole days, filtered by country': {
    date_range: WHOLE_DAYS,
    filters: [{ type: 'location', country: { operator: 'oneOf', value: ['BA'] } }],
  },
  '30 whole days, a page of 100 with series by day': {
    date_range: WHOLE_DAYS,
    interval: 'day',
    limit: 100,
  },
}

const nameProject = (i: number): string => `customer-${String(i).padStart(5, '0')}`

/** Generates the projects, unless the store has them already. A few are large, and most are small. */
async function generate(store: Store): Promise<void> {
  if ((await findLoad(store.writer, BATCH)) !== undefined) return
  const created = new Set((await listProjects(store.reader)).map(({ id }) => id))
  const ids = Array.from({ length: PROJECTS }, (_, i) => nameProject(i))
  for (const id of ids.filter((one) => !created.has(one))) {
    const project = { id, name: id, domain: `${id}.example` }
    await createProject(store, project, new Date('2025-01-01T00:00:00Z'))
  }
  const run = (fragment: Sql): Promise<void> => store.admin.execute(statement(fragment))
  const scale = computeScale(Math.round((EVENTS * 365) / DAYS))
  const from = Math.floor((scale.visits * (365 - DAYS)) / 365)
  const slice = { from, count: scale.visits - from }
  const divide = (visits: Sql): Sql => sql`
SELECT * REPLACE (
  concat('customer-', leftPad(toString(toUInt32(${uint32(PROJECTS)} * pow(sipHash64(n, 30) / 18446744073709551616., 2))), 5, '0')) AS project_id,
  1 + user % 10000 AS user)
FROM (${visits})`
  const copy = sql`bench_sessions`
  await run(sql`CREATE TABLE ${copy} AS sessions`)
  await run(insertEvents(scale, slice, divide))
  await run(insertSessions(copy, scale, slice, divide))
  const months = [202510, 202511, 202512].map(
    (month) => sql`REPLACE PARTITION ${uint32(month)} FROM ${copy}`,
  )
  await run(sql`ALTER TABLE sessions ${join(months)}`)
  for (const insert of [INSERT_USERS, ...INDEX_USERS]) await run(insert)
  await run(sql`DROP TABLE ${copy} SYNC`)
  await rebuildRollups(store.writer, {})
  const load = { number: 1, ...takeBatch(BATCH), step: STEP.staged, slices: 1 }
  await recordLoaded(store.writer, load, EMPTY_REPORT, NO_ROWS)
}

const runAcross = (
  store: Store,
  projects: readonly StoredProject[],
  asked: PartialAcross,
  requestId?: string,
) =>
  runAcrossProjects(fillAcross({ metrics: METRICS, limit: 1_000, ...asked }), projects, {
    now: () => NOW,
    openData: () => ({
      group: undefined,
      run: (one) =>
        createQueryRunner(store, 60_000, requestId === undefined ? {} : { requestId })(one),
      firstEventAt: (ids) => findFirstEventTimeOfAny(store.reader, ids),
    }),
  })

/** Sends one query about each project, one after the other, as their sizes suggest. */
async function runAlone(
  store: Store,
  projects: readonly StoredProject[],
  { interval: _interval, order_by: _order, ...asked }: PartialAcross,
): Promise<number> {
  const request = fillDefaults({ metrics: METRICS, ...asked })
  let ms = 0
  for (const project of projects) {
    const sizes = await readProjectSizes(store.lookups, project.id, NOW)
    ms += await measureMs(() =>
      answer(QUERY, request, project, {
        readSizes: () => Promise.resolve(sizes),
        run: (one) => createQueryRunner(store, 60_000)(one),
        firstEventAt: () => Promise.resolve(null),
        now: () => NOW,
      }),
    )
  }
  return ms
}

/** How many of the questions are also asked about each project alone. */
const ALONE = 2

interface Measured {
  readonly name: string
  readonly requestId: string
  readonly times: readonly number[]
  readonly alone: number | undefined
}

await withDataFolder(async (dataDir) => {
  const opened = await openBenchStore(dataDir)
  try {
    const { store } = opened
    await generate(store)
    const projects = await listProjects(store.reader)
    const measured: Measured[] = []
    for (const [name, asked] of Object.entries(QUESTIONS)) {
      const times: number[] = []
      const requestId = randomUUID()
      for (let i = -2; i < RUNS; i += 1) {
        const id = i < 0 ? undefined : requestId
        const ms = await measureMs(() => runAcross(store, projects, asked, id))
        if (i >= 0) times.push(ms)
      }
      const alone = measured.length < ALONE ? await runAlone(store, projects, asked) : undefined
      measured.push({ name, requestId, times, alone })
      console.error(`${name}: ${formatTenths(summarize(times).median)} ms`)
    }
    const cpuMs = await readCpuMs(store)
    const rows = measured.map(({ name, requestId, times, alone }) => [
      name,
      formatTenths(summarize(times).median),
      formatTenths(Math.min(...times)),
      formatTenths(cpuMs.get(requestId) ?? NaN),
      alone === undefined ? '' : formatWhole(alone),
    ])
    await printMachine(new Date())
    const what = `${formatWhole(projects.length)} projects, ${formatWhole(EVENTS)} events`
    printTable(
      [what, 'median ms', 'fastest ms', 'CPU ms of the engine', 'one query for each, ms'],
      rows,
    )
  } finally {
    await opened.close()
  }
})
