/** Measures plans of projects across shards, and fits to the CPU time of the shard that asks what each unit of its work costs. */
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import {
  addCosts,
  estimateWideWork,
  UNIT_COSTS,
  type Unit,
  type WideWork,
} from '../../src/analytics/plan/cost.js'
import { listPlans } from '../../src/analytics/plan/planner.js'
import { resolvePeriod } from '../../src/analytics/request/period.js'
import { resolveQuery } from '../../src/analytics/request/query.js'
import { buildStatement } from '../../src/analytics/sql/build-statement.js'
import { createQueryRunner } from '../../src/clickhouse/run.js'
import type { Statement } from '../../src/clickhouse/sql.js'
import { locate } from '../../src/cluster/cluster.js'
import { readLoggedCosts, withLog } from '../../src/cluster/shard-costs.js'
import { findStatementGroup, openReader } from '../../src/cluster/shard-reads.js'
import type { AnalyticsQueryRequest } from '../../src/contract/api.js'
import { ALL_RELATIONS } from '../../src/model/relations.js'
import type { StoredProject } from '../../src/projects/project.js'
import { readProjectSizes } from '../../src/projects/project-sizes.js'
import { createProject, findProject } from '../../src/projects/store.js'
import { rebuildRollups } from '../../test/support/store/loading.js'
import { fillDefaults } from '../../test/support/world/world.js'
import { waitForMerges } from '../reads/disk.js'
import { withDataFolder } from '../shared/data-folder.js'
import { formatTenths, printMachine, printTable, summarize } from '../shared/figures.js'
import { fitCosts } from '../shared/fit-costs.js'
import { startEngines, type BenchCluster } from './engines.js'
import { insertPart, recordParts } from './generate.js'

const EVENTS = Number(process.env['EVENTS'] ?? 1_000_000)
const WIDTHS = (process.env['WIDTHS'] ?? '2,3,4').split(',').map(Number)
const RUNS = Number(process.env['RUNS'] ?? 5)
const NOW = new Date('2026-01-01T00:00:00Z')

const RANGES: readonly (readonly [string, string])[] = [
  ['2025-12-01', '2025-12-07'],
  ['2025-01-01', '2025-12-31'],
  ['2025-01-01', '2025-12-20T15:30:00Z'],
]
const IN_COUNTRY = { type: 'location', country: { operator: 'oneOf', value: ['BA'] } } as const
const REQUESTS: readonly Partial<AnalyticsQueryRequest>[] = [
  {},
  { metrics: ['pageviews'] },
  { group_by: ['interval:auto'] },
  { group_by: ['country'] },
  { group_by: ['page:path'] },
  { group_by: ['page:path'], metrics: ['pageviews'] },
  { group_by: ['city'] },
  { group_by: ['page:path'], filters: [IN_COUNTRY] },
]

async function fill({ home, shards }: BenchCluster): Promise<void> {
  const names = shards.map(({ name }) => name)
  for (const width of WIDTHS) {
    const project = `wide-${width}`
    const fields = { id: project, name: project, domain: 'a.example' }
    const own = shards.slice(0, width)
    for (const { store } of new Set([home, ...own])) {
      await createProject(store, fields, new Date('2025-01-01'), names.slice(0, width))
    }
    for (const [index, { store }] of own.entries()) {
      await insertPart(store, EVENTS, { project, index, of: width })
    }
  }
  for (const { name, store } of shards) {
    await recordParts(store)
    await rebuildRollups(store.writer, {})
    await waitForMerges(store)
    console.error(`${name} is filled`)
  }
}

interface Measured {
  readonly name: string
  readonly way: string
  readonly width: number
  readonly work: WideWork
  /** Medians of the CPU time in milliseconds: what all shards take for their parts, and what the one that asks takes besides. */
  readonly shardsMs: number
  readonly askingMs: number
}

/** Measures the plans of the queries of a project. */
async function measureProject(
  cluster: BenchCluster,
  project: StoredProject,
): Promise<readonly Measured[]> {
  const shards = locate(cluster, project)
  const width = shards.length
  const group = findStatementGroup(cluster, project)
  const sizes = await readProjectSizes(shards[0].store.lookups, project.id, NOW)
  const measure = async (asked: Statement) => {
    const [ofShards, ofAsking]: [number[], number[]] = [[], []]
    for (let i = -1; i < RUNS; i++) {
      const requestId = randomUUID()
      const store = { ...shards[0].store, reader: withLog(openReader(shards)) }
      await createQueryRunner(store, 60_000, { requestId })(asked)
      if (i < 0) continue
      const costs = await Promise.all(
        shards.map(({ store }, i) => readLoggedCosts(store, requestId, 1, i === 0)),
      )
      ofShards.push(costs.reduce((sum, cost) => sum + (cost?.asked.cpuMs ?? NaN), 0))
      ofAsking.push(costs[0]?.asking?.cpuMs ?? NaN)
    }
    return { shardsMs: summarize(ofShards).median, askingMs: summarize(ofAsking).median }
  }
  const measured: Measured[] = []
  const metrics = ['users', 'pageviews', 'events', 'bounce_rate', 'visit_duration'] as const
  for (const partial of REQUESTS) {
    for (const date_range of RANGES) {
      const request = fillDefaults({ date_range, metrics, ...partial })
      const query = resolveQuery(request, project.id, resolvePeriod(date_range, NOW, NOW))
      for (const [way, plan] of listPlans(query, ALL_RELATIONS)) {
        if (plan.userCounting.kind !== 'all') continue
        measured.push({
          ...{ name: `${date_range.join('..')} ${JSON.stringify(partial)}`, way, width },
          work: estimateWideWork(plan, sizes, width),
          ...(await measure(buildStatement(plan, 'bench', group))),
        })
      }
    }
    console.error(`width ${width}: ${JSON.stringify(partial)}`)
  }
  return measured
}

const ASKING: readonly Unit[] = ['wideStatement', 'wideSelect', 'askedShard', 'shardGroup']

async function run(dataDir: string): Promise<void> {
  const cluster = await startEngines(dataDir, Math.max(...WIDTHS), [])
  try {
    const { reader } = cluster.home.store
    if ((await findProject(reader, `wide-${WIDTHS[0]}`)) === undefined) await fill(cluster)
    const measured: Measured[] = []
    for (const width of WIDTHS) {
      const project = await findProject(reader, `wide-${width}`)
      if (project !== undefined) measured.push(...(await measureProject(cluster, project)))
    }
    await printMachine(new Date())
    const costs = fitCosts(
      measured.map(({ work, askingMs }) => ({ work: work.asking, cpuMs: askingMs })),
    )
    printTable(
      ['unit', 'in the planner, µs', 'fitted, µs'],
      ASKING.map((unit) => [unit, String(UNIT_COSTS[unit]), costs[unit].toPrecision(3)]),
    )
    printTable(
      [
        'query',
        'way',
        'shards',
        'CPU ms of all',
        'estimated',
        'CPU ms of asking',
        'estimated',
        'fitted',
      ],
      measured.map(({ name, way, width, work, shardsMs, askingMs }) => [
        ...[name, way, String(width)],
        ...[
          ...[shardsMs, addCosts(work.shards, UNIT_COSTS), askingMs],
          ...[addCosts(work.asking, UNIT_COSTS), addCosts(work.asking, costs)],
        ].map(formatTenths),
      ]),
    )
    const file = process.env['MEASURED']
    if (file !== undefined) writeFileSync(file, JSON.stringify(measured))
  } finally {
    await cluster.stop()
  }
}

await withDataFolder(run)
