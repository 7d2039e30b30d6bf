/** Measures what the service adds to a query: over HTTP with a key, compared with the bare statement. */
import type { AnalyticsQueryRequest } from '../src/contract/api.js'
import { addDays } from '../src/lib/time.js'
import { fillDefaults } from '../test/support/world/world.js'
import { createBareClient, findEndpoint, buildQueryStatement } from './shared/bare.js'
import {
  printMachine,
  printTable,
  summarize,
  formatTenths,
  measureMs,
  type Summary,
} from './shared/figures.js'
import { createQueryClient, issueToken, startServiceProcess } from './shared/service.js'
import { topUpDemo } from '../test/support/store/loading.js'
import { openBenchStore, withDataFolder } from './shared/data-folder.js'

const TIMES = Number(process.env['TIMES'] ?? 300)
const WARM_UP = 50
const NOW = new Date()
const LAST_30_DAYS = [day(-30), day(-1)] as const

const QUERIES: Readonly<Record<string, Partial<AnalyticsQueryRequest>>> = {
  'total of a day': { date_range: [day(-1), day(-1)] as const },
  'total of 30 days, all metrics': {
    date_range: LAST_30_DAYS,
    metrics: ['users', 'pageviews', 'events', 'bounce_rate', 'visit_duration'],
  },
  '30 days by country': { date_range: LAST_30_DAYS, group_by: ['country'] },
  '30 days by day': { date_range: LAST_30_DAYS, group_by: ['interval:auto'] },
}

function day(offset: number): string {
  return addDays(NOW, offset).toISOString().slice(0, 10)
}

/** The times of one query, sent to the service and to ClickHouse directly. */
interface Measured {
  readonly name: string
  readonly service: Summary
  readonly bare: Summary
}

/** Fills a data folder with the events of the demo, and issues a key for them. */
async function fill(dataDir: string): Promise<{ projectId: string; token: string }> {
  const opened = await openBenchStore(dataDir)
  const { store } = opened
  try {
    const { project, loaded } = await topUpDemo(store, { now: NOW })
    console.log(`loaded ${loaded} events`)
    return { projectId: project.id, token: await issueToken(store, dataDir, project.id, NOW) }
  } finally {
    await opened.close()
  }
}

/** Alternates between both and between the queries, so that other work on the machine affects all alike. */
async function measure(dataDir: string): Promise<readonly Measured[]> {
  const { projectId, token } = await fill(dataDir)
  const service = await startServiceProcess(dataDir)
  const client = createBareClient(await findEndpoint(dataDir), 'reader', 10)
  const sendQuery = createQueryClient(service.address, token)
  try {
    const queries = Object.entries(QUERIES).map(([name, fields]) => {
      const query = fillDefaults({ date_range: 'today', ...fields })
      const times = { service: [] as number[], bare: [] as number[] }
      return {
        name,
        times,
        body: JSON.stringify(query),
        statement: buildQueryStatement(query, projectId, NOW),
      }
    })
    for (let i = 0; i < WARM_UP + TIMES; i++) {
      for (const { body, statement, times } of queries) {
        const serviceMs = await measureMs(() => sendQuery(body))
        const bareMs = await measureMs(() => client.run(statement))
        if (i < WARM_UP) continue
        times.service.push(serviceMs)
        times.bare.push(bareMs)
      }
    }
    return queries.map(({ name, times }) => ({
      name,
      service: summarize(times.service),
      bare: summarize(times.bare),
    }))
  } finally {
    await client.close()
    await service.stop()
  }
}

const HEAD = ['query', 'service median', 'p95', 'bare median', 'p95', 'difference of medians']

await withDataFolder(async (dataDir) => {
  const measured = await measure(dataDir)
  await printMachine(NOW)
  console.log(`each query ${TIMES} times; milliseconds\n`)
  const lines = measured.map(({ name, service, bare }) => [
    name,
    ...[service.median, service.p95, bare.median, bare.p95].map(formatTenths),
    formatTenths(service.median - bare.median),
  ])
  printTable(HEAD, lines)
})
