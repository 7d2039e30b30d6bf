/** Measures queries of a project on one shard and across several, with all engines on this machine. */
import { deepStrictEqual } from 'node:assert'
import { writeFile } from 'node:fs/promises'
import type { StoredProject } from '../../src/projects/project.js'
import { createProject } from '../../src/projects/store.js'
import { rebuildRollups } from '../../test/support/store/loading.js'
import { waitForMerges } from '../reads/disk.js'
import { LARGE } from '../reads/generate.js'
import { buildRequest, QUERIES, type BenchQuery } from '../reads/queries.js'
import { withDataFolder } from '../shared/data-folder.js'
import {
  formatTenths,
  formatWhole,
  measureMs,
  printMachine,
  printTable,
  summarize,
} from '../shared/figures.js'
import { createAsk, readMoment, readWork, type Ask } from './ask.js'
import { readCpu, startEngines, type BenchCluster } from './engines.js'
import { insertPart, recordParts } from './generate.js'
import { measureFanOut, measureParts, nameQuery, REPEATS } from './samples.js'
import type { Timings } from './timings.js'

const EVENTS = Number(process.env['EVENTS'] ?? 1_000_000)
const SHARDS = Number(process.env['SHARDS'] ?? 3)
const RUNS = Number(process.env['RUNS'] ?? 15)
const NOW = new Date()
const QUESTIONS = QUERIES.filter(({ project }) => project === LARGE)

const note = (text: string): void => console.error(text)

interface Projects {
  readonly narrow: StoredProject
  readonly wide: StoredProject
}

async function fill({ home, shards }: BenchCluster): Promise<Projects> {
  const create = (store: (typeof home)['store'], id: string, names: readonly string[]) =>
    createProject(store, { id, name: id, domain: 'a.example' }, new Date('2025-01-01'), names)
  const names = shards.map(({ name }) => name)
  const narrow = await create(home.store, 'narrow', [])
  const [wide] = await Promise.all(shards.map(({ store }) => create(store, 'wide', names)))
  await insertPart(home.store, EVENTS, { project: 'narrow', index: 0, of: 1 })
  for (const [index, { store }] of shards.entries()) {
    await insertPart(store, EVENTS, { project: 'wide', index, of: shards.length })
    await recordParts(store)
    await rebuildRollups(store.writer, {})
    await waitForMerges(store)
    note(`shard ${index + 1} is filled`)
  }
  return { narrow, wide: wide! }
}

interface Measured {
  readonly ms: number
  readonly p95: number
  /** The sum over all engines, per query. */
  readonly cpuMs: number
}

async function measureAsk(cluster: BenchCluster, ask: Ask, query: BenchQuery): Promise<Measured> {
  const request = buildRequest(query)
  for (let i = 0; i < 3; i++) await ask(request)
  const before = await readCpu(cluster)
  const times: number[] = []
  for (let i = 0; i < RUNS; i++) times.push(await measureMs(() => ask(request)))
  const cpuMs = (((await readCpu(cluster)) - before) * 1_000) / RUNS
  const { median, p95 } = summarize(times)
  return { ms: median, p95, cpuMs }
}

/** Measures a query on both projects, and compares the answers. */
async function compare(
  cluster: BenchCluster,
  asks: { readonly narrow: Ask; readonly wide: Ask },
  query: BenchQuery,
): Promise<readonly string[]> {
  const request = buildRequest(query)
  deepStrictEqual((await asks.wide(request)).data, (await asks.narrow(request)).data)
  const narrow = await measureAsk(cluster, asks.narrow, query)
  const wide = await measureAsk(cluster, asks.wide, query)
  const alone = readMoment()
  await asks.narrow(request)
  const own = await readWork(cluster.home.store, alone, 'service')
  const since = readMoment()
  await asks.wide(request)
  const works = await Promise.all(
    cluster.shards.map(({ store }) => readWork(store, since, 'shard')),
  )
  const sent = works.reduce((sum, work) => sum + work.sent, 0)
  return [
    nameQuery(query),
    ...[narrow.ms, narrow.p95, narrow.cpuMs, wide.ms, wide.p95, wide.cpuMs].map(formatTenths),
    formatWhole(own.rows),
    works.map(({ rows }) => formatWhole(rows)).join(' + '),
    formatWhole(sent / 1_000),
  ]
}

async function printQueries(cluster: BenchCluster, { narrow, wide }: Projects): Promise<void> {
  const asks = {
    narrow: await createAsk(cluster, narrow, NOW),
    wide: await createAsk(cluster, wide, NOW),
  }
  const lines: (readonly string[])[] = []
  for (const query of QUESTIONS) {
    note(nameQuery(query))
    lines.push(await compare(cluster, asks, query))
  }
  console.log(`\n${lines.length} queries, equal answers on 1 and ${SHARDS} shards; milliseconds:\n`)
  printTable(
    [
      'query',
      '1 shard',
      'p95',
      'CPU',
      `${SHARDS} shards`,
      'p95',
      'CPU',
      'rows read',
      'rows read per shard',
      'kB sent',
    ],
    lines,
  )
}

async function run(dataDir: string): Promise<void> {
  const cluster = await startEngines(dataDir, SHARDS, REPEATS)
  try {
    const projects = await fill(cluster)
    await printMachine(NOW)
    console.log(`a project of about ${formatWhole(EVENTS)} events; each query ${RUNS} times`)
    await printQueries(cluster, projects)
    const fanOut = await measureFanOut(cluster)
    console.log('\nA query that reads nothing, over groups that name one engine many times:\n')
    printTable(
      ['shards', 'ms', 'CPU of the one that asks'],
      fanOut.map(({ shards, ms, cpuMs }) => [
        formatWhole(shards),
        formatTenths(ms),
        formatTenths(cpuMs),
      ]),
    )
    const questions = await measureParts(cluster, projects, QUESTIONS, NOW)
    const timings: Timings = {
      measured: NOW.toISOString().slice(0, 10),
      machine: 'all shards on one machine with 2 cores',
      events: EVENTS,
      partEvents: Math.round(EVENTS / SHARDS),
      questions,
      fanOut,
    }
    const file = process.env['TIMINGS']
    if (file !== undefined) await writeFile(file, `${JSON.stringify(timings)}\n`)
  } finally {
    await cluster.stop()
  }
}

await withDataFolder(run)
