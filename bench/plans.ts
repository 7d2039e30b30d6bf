/** Measures every way of reading of many queries, and fits to their CPU time what each unit of work costs. */
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { AnalyticsQueryRequest } from '../src/contract/api.js'
import { listPlans, nameWay, planQuery } from '../src/analytics/plan/planner.js'
import { addCosts, estimateWork, UNIT_COSTS, UNITS, type Unit } from '../src/analytics/plan/cost.js'
import { resolvePeriod } from '../src/analytics/request/period.js'
import { resolveQuery, type Query } from '../src/analytics/request/query.js'
import { buildStatement } from '../src/analytics/sql/build-statement.js'
import { createQueryRunner } from '../src/clickhouse/run.js'
import { sql, statement } from '../src/clickhouse/sql.js'
import { buildRecord } from '../src/lib/records.js'
import { ALL_RELATIONS } from '../src/model/relations.js'
import type { Store } from '../src/clickhouse/store.js'
import type { ProjectSizes } from '../src/model/project-sizes.js'
import { readProjectSizes } from '../src/projects/project-sizes.js'
import { fillDefaults } from '../test/support/world/world.js'
import { readCpuMs } from './shared/cpu-times.js'
import { fitCosts, type Sample } from './shared/fit-costs.js'
import { openBenchStore } from './shared/data-folder.js'
import { formatTenths, measureMs, printMachine, printTable, summarize } from './shared/figures.js'

const { DATA_DIR, MEASURED, PROJECTS = 'large,small-001' } = process.env
/** How often a plan is run; long ones at least three times. */
const RUNS = Number(process.env['RUNS'] ?? 9)
/** A query whose plans have taken this long together is not run again. */
const LONG_MS = 5_000
/** No further query is begun after this long. With MEASURED, the next call goes on with it. */
const SECONDS = Number(process.env['SECONDS'] ?? 3_600)

const NOW = new Date('2026-01-01T00:00:00Z')
const RANGES: readonly (readonly [string, string])[] = [
  ['2025-12-01', '2025-12-07'],
  ['2025-05-17', '2025-06-15'],
  ['2025-01-01', '2025-12-31'],
  ['2025-01-01', '2025-12-20T15:30:00Z'],
]
const IN_COUNTRY = { type: 'location', country: { operator: 'oneOf', value: ['BA'] } } as const
const ENTERED_HOME = { type: 'entry_page', operator: 'eq', value: '/' } as const
const REQUESTS: readonly Partial<AnalyticsQueryRequest>[] = [
  {},
  { metrics: ['pageviews'] },
  { group_by: ['interval:auto'] },
  { group_by: ['country'] },
  { group_by: ['page:path'] },
  { group_by: ['page:path'], order_by: [['pageviews', 'desc']], limit: 10 },
  { group_by: ['city'] },
  { group_by: ['event:name'] },
  { group_by: ['event:prop:plan'] },
  { filters: [IN_COUNTRY] },
  { group_by: ['page:path'], filters: [IN_COUNTRY] },
  { group_by: ['page:entry'] },
  { group_by: ['page:exit'], filters: [IN_COUNTRY], metrics: ['pageviews'] },
  { group_by: ['page:path'], filters: [ENTERED_HOME] },
]

/** Medians in milliseconds. */
interface Time {
  readonly ms: number
  readonly cpuMs: number
}
/** By way of reading. */
type Times = Readonly<Record<string, Time>>
const SELECT_1 = 'SELECT 1'

interface Case {
  readonly name: string
  readonly query: Query
  readonly sizes: ProjectSizes
}

function listCases(sizesOf: ReadonlyMap<string, ProjectSizes>): readonly Case[] {
  const metrics = ['users', 'pageviews', 'events', 'bounce_rate', 'visit_duration'] as const
  return REQUESTS.flatMap((partial) =>
    RANGES.flatMap((date_range) =>
      [...sizesOf].map(([project, sizes]) => {
        const request = fillDefaults({ date_range, metrics, ...partial })
        const period = resolvePeriod(date_range, NOW, NOW)
        const name = `${project} ${date_range.join('..')} ${JSON.stringify(partial)}`
        return { name, query: resolveQuery(request, project, period), sizes }
      }),
    ),
  )
}

const listWays = ({ query }: Case) => listPlans(query, ALL_RELATIONS)

/** Runs the plans of a query, in turn. */
async function measure(one: Case, store: Store): Promise<Times> {
  const tried = [
    { way: SELECT_1, text: statement(sql`SELECT 1`) },
    ...[...listWays(one)].map(([way, plan]) => ({ way, text: buildStatement(plan, 'bench') })),
  ].map((way) => ({ ...way, requestId: randomUUID(), times: [] as number[] }))
  const begun = performance.now()
  for (let i = -1; i < RUNS && (i < 3 || performance.now() - begun < LONG_MS); i++) {
    for (const { text, requestId, times } of tried) {
      const scope = i < 0 ? {} : { requestId }
      const ms = await measureMs(() => createQueryRunner(store, 60_000, scope)(text))
      if (i >= 0) times.push(ms)
    }
  }
  const cpuMs = await readCpuMs(store)
  return Object.fromEntries(
    tried.map(({ way, requestId, times }) => [
      way,
      { ms: summarize(times).median, cpuMs: cpuMs.get(requestId) ?? NaN },
    ]),
  )
}

/** Measures the queries that MEASURED does not have, and adds them to it. */
async function measureAll(): Promise<readonly (readonly [Case, Times])[]> {
  if (DATA_DIR === undefined) throw new Error('DATA_DIR must name a folder that bench has filled')
  const known = new Map(
    MEASURED !== undefined && existsSync(MEASURED)
      ? (JSON.parse(readFileSync(MEASURED, 'utf8')) as [string, Times][])
      : [],
  )
  const opened = await openBenchStore(DATA_DIR)
  const { store } = opened
  const begun = performance.now()
  try {
    const sizesOf = new Map<string, ProjectSizes>()
    for (const project of PROJECTS.split(',')) {
      const ms = await measureMs(async () =>
        sizesOf.set(project, await readProjectSizes(store.lookups, project, NOW)),
      )
      console.error(`the sizes of ${project} were read in ${formatTenths(ms)} ms`)
    }
    const cases = listCases(sizesOf)
    for (const one of cases) {
      if (known.has(one.name) || performance.now() - begun > SECONDS * 1_000) continue
      known.set(one.name, await measure(one, store))
      if (MEASURED !== undefined) writeFileSync(MEASURED, JSON.stringify([...known]))
    }
    return cases.flatMap((one) => {
      const times = known.get(one.name)
      return times === undefined ? [] : [[one, times] as const]
    })
  } finally {
    await opened.close()
  }
}

interface Row extends Time, Sample {
  readonly way: string
}
const UNKNOWN: Time = { ms: NaN, cpuMs: NaN }

const NO_WORK = { ...buildRecord(UNITS, () => 0), statement: 1 }

/** Lists the ways of a query with their work. The first is `SELECT 1`. */
const listRows = ([one, times]: readonly [Case, Times]): readonly Row[] => [
  { way: SELECT_1, work: NO_WORK, ...(times[SELECT_1] ?? UNKNOWN) },
  ...[...listWays(one)].map(([way, plan]) => ({
    way,
    work: estimateWork(plan, one.sizes),
    ...(times[way] ?? UNKNOWN),
  })),
]

const measured = await measureAll()
await printMachine(new Date())
const costs = fitCosts(measured.flatMap((one) => listRows(one)))
printTable(
  ['unit', 'in the planner, µs', 'fitted, µs'],
  UNITS.map((unit) => [unit, String(UNIT_COSTS[unit]), costs[unit].toPrecision(3)]),
)

const pick = (ways: readonly Row[], of: Readonly<Record<Unit, number>>): Row | undefined =>
  ways.toSorted((one, other) => addCosts(one.work, of) - addCosts(other.work, of))[0]

printTable(
  ['query', 'way', 'ms', 'CPU ms', 'estimated', 'fitted', 'of the best', ''],
  measured.flatMap((one) => {
    const [, ...ways] = listRows(one)
    const best = Math.min(...ways.map(({ cpuMs }) => cpuMs))
    const [planned, fitted] = [pick(ways, UNIT_COSTS), pick(ways, costs)]
    const unknown = nameWay(planQuery(one[0].query, ALL_RELATIONS))
    return ways.map((row) => [
      ...[one[0].name, row.way],
      ...[
        ...[row.ms, row.cpuMs, addCosts(row.work, UNIT_COSTS), addCosts(row.work, costs)],
        row.cpuMs / best,
      ].map(formatTenths),
      [
        ...(row === planned ? ['chosen'] : []),
        ...(row === fitted ? ['chosen if fitted'] : []),
        ...(row.way === unknown ? ['without sizes'] : []),
      ].join(', '),
    ])
  }),
)
