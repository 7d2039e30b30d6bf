/** Measures what the service adds to a question: over HTTP with a key, beside the bare statement. */
import { createClient, type ClickHouseClient } from '@clickhouse/client'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { Agent, request, type IncomingMessage } from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { resolvePeriod } from '../src/analytics/period.js'
import { planQuery } from '../src/analytics/planner.js'
import { resolveQuery } from '../src/analytics/query.js'
import { buildStatement } from '../src/analytics/sql-builder.js'
import type { AnalyticsQueryRequest } from '../src/api.js'
import { issueKey } from '../src/auth/api-keys.js'
import { openSigningKey } from '../src/auth/signing-key.js'
import { findEngine } from '../src/clickhouse/embedded/engine.js'
import type { Statement } from '../src/clickhouse/sql.js'
import { openService } from '../src/clickhouse/open.js'
import { topUpDemo } from '../src/demo/top-up.js'
import { packagePath } from '../src/paths.js'
import { filled } from '../test/support/world.js'
import { printTable, summaryOf, type Measured } from './figures.js'

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

/** The statement that the service makes of a request. */
function statementOf(request: AnalyticsQueryRequest, projectId: string): Statement {
  const period = resolvePeriod(request.date_range, NOW, NOW)
  return buildStatement(planQuery(resolveQuery(request, projectId, period)))
}

/** Fills a data folder with the events of the demo, and issues a key for them. */
async function fill(dataDir: string): Promise<{ projectId: string; token: string }> {
  const opened = await openService({ dataDir, clickhouse: undefined }, 'bench')
  const { store } = opened
  try {
    const { project, loaded } = await topUpDemo(store, { now: NOW })
    console.log(`loaded ${loaded} events`)
    const key = {
      projectId: project.id,
      name: 'bench',
      expiresAt: new Date(NOW.getTime() + 2 * 86_400_000),
    }
    const { token } = await issueKey(store, await openSigningKey(dataDir), key, NOW)
    return { projectId: project.id, token }
  } finally {
    await opened.close()
  }
}

/** Runs the service as it is deployed, in a process of its own. */
async function serve(dataDir: string): Promise<{ address: string; stop: () => Promise<void> }> {
  const child = spawn(process.execPath, [packagePath('dist/cli.js'), 'serve'], {
    env: {
      PATH: process.env['PATH'],
      DATA_DIR: dataDir,
      PORT: '0',
      NODE_ENV: 'production',
      RATE_LIMIT: '0',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exit = once(child, 'exit')
  const address = await new Promise<string>((resolve, reject) => {
    let log = ''
    child.stdout.on('data', (data: Buffer) => {
      if (log.length > 10_000) return
      log += data.toString()
      const found = /"address":"([^"]+)"/.exec(log)?.[1]
      if (found !== undefined) resolve(found)
    })
    void exit.then(() => reject(new Error(`the service did not start: ${log}`)))
  })
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await exit
  }
  return { address, stop }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

/** Asks over one connection that stays open, with the HTTP client that the bare client is made of, too. */
function asker(address: string, token: string) {
  const agent = new Agent({ keepAlive: true })
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  return async (body: string): Promise<unknown> => {
    const call = request(`${address}/v1/analytics/query`, { method: 'POST', agent, headers })
    call.end(body)
    const [answer] = (await once(call, 'response')) as [IncomingMessage]
    const answered = await text(answer)
    if (answer.statusCode !== 200) throw new Error(answered)
    return JSON.parse(answered)
  }
}

/** The settings are the service's own: they tell the engine what to do. */
async function bare(client: ClickHouseClient, { query, query_params }: Statement) {
  const answer = await client.query({
    query,
    query_params,
    format: 'JSON',
    clickhouse_settings: {
      wait_end_of_query: 1,
      http_write_exception_in_output_format: 0,
      max_execution_time: 10,
      exact_rows_before_limit: 1,
      output_format_json_quote_64bit_integers: 0,
    },
  })
  return answer.json()
}

/** Asks both in turn, and one question after the other, so that whatever else the machine does meets both alike. */
async function measure(dataDir: string): Promise<readonly Measured[]> {
  const { projectId, token } = await fill(dataDir)
  const service = await serve(dataDir)
  const endpoint = await findEngine(dataDir)
  if (endpoint === undefined) throw new Error('there is no engine')
  const { url, database, accounts } = endpoint
  const client = createClient({ url, database, ...accounts.reader })
  const ask = asker(service.address, token)
  try {
    const questions = Object.entries(QUESTIONS).map(([name, asked]) => {
      const question = filled({ date_range: 'today', ...asked })
      const times = { service: [] as number[], bare: [] as number[] }
      return {
        name,
        times,
        body: JSON.stringify(question),
        statement: statementOf(question, projectId),
      }
    })
    for (let i = 0; i < WARM_UP + TIMES; i++) {
      for (const { body, statement, times } of questions) {
        const ofService = await timed(() => ask(body))
        const ofBare = await timed(() => bare(client, statement))
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

const given = process.env['DATA_DIR']
const dataDir = given ?? (await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-bench-')))
try {
  const measured = await measure(dataDir)
  const { version } = JSON.parse(await readFile(packagePath('package.json'), 'utf8')) as {
    version: string
  }
  const [cpu] = os.cpus()
  console.log(`${NOW.toISOString().slice(0, 10)}, tallyhouse ${version}, node ${process.version}`)
  console.log(`${os.cpus().length} × ${cpu?.model ?? 'unknown'}, ${os.type()} ${os.release()}`)
  console.log(`each question ${TIMES} times; milliseconds\n`)
  printTable(measured)
} finally {
  if (given === undefined) await rm(dataDir, { recursive: true, force: true })
}
