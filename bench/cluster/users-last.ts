/** Measures the plans of queries of a wide project that count users last, beside those that count all at once. */
import { deepStrictEqual } from 'node:assert'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { listPlans, nameWay, planQuery } from '../../src/analytics/plan/planner.js'
import { estimateCost } from '../../src/analytics/plan/cost.js'
import type { Plan } from '../../src/analytics/plan/plan.js'
import { QUERY, resolveRequest } from '../../src/analytics/operations/query.js'
import { buildResponse } from '../../src/analytics/run-operation.js'
import { shapeRows } from '../../src/analytics/response.js'
import { runPlan } from '../../src/analytics/run-plan.js'
import { createQueryRunner } from '../../src/clickhouse/run.js'
import { sql, statement } from '../../src/clickhouse/sql.js'
import { locate } from '../../src/cluster/cluster.js'
import { findStatementGroup, openReader } from '../../src/cluster/shard-reads.js'
import type { AnalyticsQueryRequest, AnalyticsQueryResponse } from '../../src/contract/api.js'
import { ALL_RELATIONS } from '../../src/model/relations.js'
import { readProjectSizes } from '../../src/projects/project-sizes.js'
import type { StoredProject } from '../../src/projects/project.js'
import { createProject } from '../../src/projects/store.js'
import { rebuildRollups } from '../../test/support/store/loading.js'
import { fillDefaults } from '../../test/support/world/world.js'
import { waitForMerges } from '../reads/disk.js'
import { withDataFolder } from '../shared/data-folder.js'
import {
  formatTenths,
  formatWhole,
  measureMs,
  printMachine,
  printTable,
  summarize,
} from '../shared/figures.js'
import { startEngines, type BenchCluster } from './engines.js'
import { insertPart, recordParts } from './generate.js'

const EVENTS = Number(process.env['EVENTS'] ?? 4_500_000)
const PATHS = Number(process.env['PATHS'] ?? 100_000)
const SHARDS = Number(process.env['SHARDS'] ?? 3)
const RUNS = Number(process.env['RUNS'] ?? 7)
const NOW = new Date('2026-01-01T00:00:00Z')
const YEAR = ['2025-01-01', '2025-12-31'] as const

const metrics = ['users', 'pageviews', 'events', 'bounce_rate', 'visit_duration'] as const
const BY_PAGEVIEWS: Partial<AnalyticsQueryRequest> = { order_by: [['pageviews', 'desc']] }
const QUERIES: readonly (readonly [string, Partial<AnalyticsQueryRequest>])[] = [
  ['10 by users', { group_by: ['page:path'], limit: 10 }],
  ['100 by users', { group_by: ['page:path'] }],
  ['10 by pageviews', { group_by: ['page:path'], limit: 10, ...BY_PAGEVIEWS }],
  ['100 by pageviews', { group_by: ['page:path'], ...BY_PAGEVIEWS }],
  ['10 cities by users', { group_by: ['city'], limit: 10 }],
  ['10 cities by pageviews', { group_by: ['city'], limit: 10, ...BY_PAGEVIEWS }],
]

async function fill({ shards }: BenchCluster): Promise<StoredProject> {
  const names = shards.map(({ name }) => name)
  const fields = { id: 'wide', name: 'Wide', domain: 'a.example' }
  const created = await Promise.all(
    shards.map(({ store }) => createProject(store, fields, new Date('2025-01-01'), names)),
  )
  for (const [index, { store }] of shards.entries()) {
    await insertPart(store, EVENTS, { project: 'wide', index, of: SHARDS, paths: PATHS })
    await recordParts(store)
    await rebuildRollups(store.writer, {})
    await waitForMerges(store)
    console.error(`shard ${index + 1} is filled`)
  }
  return created[0]!
}

/** Reads the milliseconds of CPU time of requests, on all shards together. */
async function readCpuMs({ shards }: BenchCluster): Promise<ReadonlyMap<string, number>> {
  // The log gets a statement after its answer.
  await sleep(200)
  const sums = new Map<string, number>()
  for (const { store } of shards) {
    await store.admin.execute(statement(sql`SYSTEM FLUSH LOGS query_log`))
    const { rows } = await store.admin.query<{ id: string; cpuMs: number }>(
      statement(sql`
SELECT substring(initial_query_id, 1, 36) AS id, sum(ProfileEvents['OSCPUVirtualTimeMicroseconds']) / 1000 AS cpuMs
FROM system.query_log WHERE type = 'QueryFinish' AND user = 'reader' AND event_time > now() - 600 GROUP BY id`),
    )
    for (const { id, cpuMs } of rows) sums.set(id, (sums.get(id) ?? 0) + cpuMs)
  }
  return sums
}

/** A plan, and what its answers took. */
interface Tried {
  readonly plan: Plan
  readonly ids: string[]
  readonly times: number[]
}

async function measure(cluster: BenchCluster, project: StoredProject): Promise<void> {
  const shards = locate(cluster, project)
  const group = findStatementGroup(cluster, project)
  const store = { ...shards[0].store, reader: openReader(shards) }
  const sizes = await readProjectSizes(shards[0].store.lookups, project.id, NOW)
  const lines: (readonly string[])[] = []
  for (const [name, asked] of QUERIES) {
    console.error(name)
    const request = fillDefaults({ date_range: YEAR, metrics, ...asked })
    const query = resolveRequest(request, project, null, NOW)
    const tried = [...listPlans(query, ALL_RELATIONS).values()].map((plan): Tried => ({
      plan,
      ids: [],
      times: [],
    }))
    const answer = async (one: Tried, requestId: string): Promise<AnalyticsQueryResponse> => {
      const run = createQueryRunner(store, 60_000, { requestId })
      const { rows, total } = await runPlan(one.plan, 'bench', group, run)
      return buildResponse(QUERY, request, {
        resolved: query,
        rows: shapeRows(query, { rows, total }),
      })
    }
    const want = await answer(tried[0]!, randomUUID())
    for (let i = -1; i < RUNS; i++) {
      for (const one of tried) {
        const id = randomUUID()
        const ms = await measureMs(async () => deepStrictEqual(await answer(one, id), want))
        if (i < 0) continue
        one.ids.push(id)
        one.times.push(ms)
      }
    }
    const cpuMs = await readCpuMs(cluster)
    const chosen = nameWay(planQuery(query, ALL_RELATIONS, sizes, SHARDS))
    for (const { plan, ids, times } of tried) {
      const way = nameWay(plan)
      const cpu = summarize(ids.map((id) => cpuMs.get(id) ?? NaN)).median
      lines.push([
        name,
        way,
        ...[summarize(times).median, cpu, estimateCost(plan, sizes, SHARDS).ms].map(formatTenths),
        way === chosen ? 'chosen' : '',
      ])
    }
  }
  printTable(['query', 'way', 'ms', 'CPU ms', 'estimated', ''], lines)
}

await withDataFolder(async (dataDir) => {
  const cluster = await startEngines(dataDir, SHARDS, [])
  try {
    const project = await fill(cluster)
    await printMachine(new Date())
    console.log(
      `a project of about ${formatWhole(EVENTS)} events and ${formatWhole(PATHS)} paths on ${SHARDS} shards; each plan ${RUNS} times`,
    )
    await measure(cluster, project)
  } finally {
    await cluster.stop()
  }
})
