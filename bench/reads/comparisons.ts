/** Measures what the comparison with another period adds to queries: the CPU time of the engine, with and without it. */
import { randomUUID } from 'node:crypto'
import { QUERY } from '../../src/analytics/operations/query.js'
import { createQueryRunner } from '../../src/clickhouse/run.js'
import type { Store } from '../../src/clickhouse/store.js'
import type { AnalyticsQueryRequest } from '../../src/contract/api.js'
import type { ProjectSizes } from '../../src/model/project-sizes.js'
import { readProjectSizes } from '../../src/projects/project-sizes.js'
import { requireProject } from '../../src/projects/store.js'
import { answer, fillDefaults } from '../../test/support/world/world.js'
import { readCpuMs } from '../shared/cpu-times.js'
import { openBenchStore, withDataFolder } from '../shared/data-folder.js'
import { formatTenths, printMachine, printTable } from '../shared/figures.js'
import { generateYear, LARGE, SMALL } from './generate.js'

const EVENTS = Number(process.env['EVENTS'] ?? 3_000_000)
const RUNS = Number(process.env['RUNS'] ?? 15)
const NOW = new Date('2026-01-01T00:00:00Z')
const METRICS = ['users', 'pageviews', 'events', 'bounce_rate', 'visit_duration'] as const
const IN_COUNTRY = { type: 'location', country: { operator: 'oneOf', value: ['BA'] } } as const
const QUERIES: Readonly<Record<string, Partial<AnalyticsQueryRequest>>> = {
  total: {},
  series: { group_by: ['interval:day'] },
  'series, Kolkata': { group_by: ['interval:day'], time_zone: 'Asia/Kolkata' },
  'by country': { group_by: ['country'] },
  'by path': { group_by: ['page:path'] },
  'by path, 10 by pageviews': {
    group_by: ['page:path'],
    order_by: [['pageviews', 'desc']],
    limit: 10,
  },
  'by path, with totals': { group_by: ['page:path'], include: { totals: true } },
  'by path, filtered by country': { group_by: ['page:path'], filters: [IN_COUNTRY] },
}

/** Runs a query with and without its comparison, in turn. Returns the CPU time of each. */
async function measure(
  store: Store,
  projectId: string,
  partial: Partial<AnalyticsQueryRequest>,
  sizes: ProjectSizes,
): Promise<readonly number[]> {
  const project = await requireProject(store.reader, projectId)
  const date_range = ['2025-05-17', '2025-06-15'] as const
  const alone = fillDefaults({ date_range, metrics: METRICS, ...partial })
  const asked = [alone, { ...alone, compare: 'previous_period' as const }].map((request) => ({
    request,
    requestId: randomUUID(),
  }))
  for (let i = -1; i < RUNS; i++) {
    for (const { request, requestId } of asked) {
      const run = createQueryRunner(store, 60_000, i < 0 ? {} : { requestId })
      await answer(QUERY, request, project, {
        readSizes: () => Promise.resolve(sizes),
        run: (statement) => run(statement),
        firstEventAt: () => Promise.resolve(null),
        now: () => NOW,
      })
    }
  }
  const cpuMs = await readCpuMs(store)
  return asked.map(({ requestId }) => cpuMs.get(requestId) ?? NaN)
}

await withDataFolder(async (dataDir) => {
  const opened = await openBenchStore(dataDir)
  try {
    const { store } = opened
    await generateYear(store, EVENTS)
    const rows: string[][] = []
    for (const project of [LARGE, SMALL]) {
      const sizes = await readProjectSizes(store.lookups, project, NOW)
      for (const [name, partial] of Object.entries(QUERIES)) {
        const [alone = NaN, compared = NaN] = await measure(store, project, partial, sizes)
        rows.push([`${project}, ${name}`, ...[alone, compared, compared / alone].map(formatTenths)])
      }
    }
    await printMachine(new Date())
    printTable(['30 days', 'CPU ms', 'compared', 'ratio'], rows)
  } finally {
    await opened.close()
  }
})
