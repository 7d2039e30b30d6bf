/** Measures what the service adds to a question: over HTTP with a key, beside the bare statement. */
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import type { AnalyticsQueryRequest } from '../src/contract/api.js'
import { openStore } from '../src/bootstrap/open-store.js'
import { filled } from '../test/support/world/world.js'
import { bareClient, endpointOf, statementOf } from './shared/bare.js'
import {
  printMachine,
  printTable,
  summaryOf,
  tenths,
  timed,
  type Summary,
} from './shared/figures.js'
import { asker, issueToken, serve } from './shared/service.js'
import { topUpDemo } from '../test/support/store/loading.js'

const TIMES = Number(process.env['TIMES'] ?? 300)
const WARM_UP = 50
const NOW = new Date()
const LAST_30_DAYS = [day(-30), day(-1)] as const

const QUESTIONS: Readonly<Record<string, Partial<AnalyticsQueryRequest>>> = {
  'total of a day': { date_range: [day(-1), day(-1)] as const },
  'total of 30 days, all metrics': {
    date_range: LAST_30_DAYS,
    metrics: ['users', 'pageviews', 'events', 'bounce_rate', 'visit_duration'],
  },
  '30 days by country': { date_range: LAST_30_DAYS, group_by: ['country'] },
  '30 days, a day a row': { date_range: LAST_30_DAYS, group_by: ['interval:auto'] },
}

function day(offset: number): string {
  return new Date(NOW.getTime() + offset * 86_400_000).toISOString().slice(0, 10)
}

/** One question, asked of the service and of ClickHouse itself. */
interface Measured {
  readonly name: string
  readonly service: Summary
  readonly bare: Summary
}

/** Fills a data folder with the events of the demo, and issues a key for them. */
async function fill(dataDir: string): Promise<{ projectId: string; token: string }> {
  const opened = await openStore(
    { dataDir, clickhouse: undefined },
    { purpose: 'bench', access: 'write' },
  )
  const { store } = opened
  try {
    const { project, loaded } = await topUpDemo(store, { now: NOW })
    console.log(`loaded ${loaded} events`)
    return { projectId: project.id, token: await issueToken(store, dataDir, project.id, NOW) }
  } finally {
    await opened.close()
  }
}

/** Asks both in turn, and one question after the other, so that whatever else the machine does meets both alike. */
async function measure(dataDir: string): Promise<readonly Measured[]> {
  const { projectId, token } = await fill(dataDir)
  const service = await serve(dataDir)
  const client = bareClient(await endpointOf(dataDir), 'reader', 10)
  const ask = asker(service.address, token)
  try {
    const questions = Object.entries(QUESTIONS).map(([name, asked]) => {
      const question = filled({ date_range: 'today', ...asked })
      const times = { service: [] as number[], bare: [] as number[] }
      return {
        name,
        times,
        body: JSON.stringify(question),
        statement: statementOf(question, projectId, NOW),
      }
    })
    for (let i = 0; i < WARM_UP + TIMES; i++) {
      for (const { body, statement, times } of questions) {
        const ofService = await timed(() => ask(body))
        const ofBare = await timed(() => client.run(statement))
        if (i < WARM_UP) continue
        times.service.push(ofService)
        times.bare.push(ofBare)
      }
    }
    return questions.map(({ name, times }) => ({
      name,
      service: summaryOf(times.service),
      bare: summaryOf(times.bare),
    }))
  } finally {
    await client.close()
    await service.stop()
  }
}

const HEAD = ['question', 'service median', 'p95', 'bare median', 'p95', 'difference of medians']

const given = process.env['DATA_DIR']
const dataDir = given ?? (await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-bench-')))
try {
  const measured = await measure(dataDir)
  await printMachine(NOW)
  console.log(`each question ${TIMES} times; milliseconds\n`)
  const lines = measured.map(({ name, service, bare }) => [
    name,
    ...[service.median, service.p95, bare.median, bare.p95].map(tenths),
    tenths(service.median - bare.median),
  ])
  printTable(HEAD, lines)
} finally {
  if (given === undefined) await rm(dataDir, { recursive: true, force: true })
}
