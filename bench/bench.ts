/** Measures the questions on many events: the service, statements by hand, and what is usual elsewhere. */
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { openStore } from '../src/bootstrap/open-store.js'
import { connectStore, type Store } from '../src/clickhouse/store.js'
import { bareClient, endpointOf } from './shared/bare.js'
import { printDisk, settle } from './reads/disk.js'
import { printMachine, printTable, tenths, whole } from './shared/figures.js'
import { generate, LARGE, SMALL } from './reads/generate.js'
import { printLoadRates } from './shared/load-rate.js'
import { measure, type Measured } from './reads/measure.js'
import { QUESTIONS } from './reads/queries.js'
import { asker, issueToken, serve } from './shared/service.js'
import { checkRollups } from '../test/support/store/loading.js'

const EVENTS = Number(process.env['EVENTS'] ?? 20_000_000)
const RUNS = Number(process.env['RUNS'] ?? 15)
/** What is usual elsewhere takes long. */
const USUAL_RUNS = Math.min(RUNS, 3)
const NOW = new Date()

type Tokens = ReadonlyMap<string, string>

/** Fills the data folder, and issues a key for each project that is asked about. */
async function fill(dataDir: string): Promise<Tokens> {
  const opened = await openStore(
    { dataDir, clickhouse: undefined },
    { purpose: 'bench', access: 'write' },
  )
  try {
    await generate(opened.store, EVENTS)
    const tokens = new Map<string, string>()
    for (const project of [LARGE, SMALL]) {
      tokens.set(project, await issueToken(opened.store, dataDir, project, NOW))
    }
    return tokens
  } finally {
    await opened.close()
  }
}

/** Asks all questions, one after another. */
async function measureAll(dataDir: string, address: string, tokens: Tokens) {
  // The statements by hand have no limit that an account would set them.
  const client = bareClient(await endpointOf(dataDir), 'admin', 600)
  const asks = new Map([...tokens].map(([project, token]) => [project, asker(address, token)]))
  const measured: Measured[] = []
  try {
    for (const question of QUESTIONS) {
      const { project, period, shape } = question
      console.error(`${project}, ${period.name}, ${shape.name}`)
      const ask = asks.get(project)!
      measured.push(
        await measure(question, { ask, client, runs: RUNS, usualRuns: USUAL_RUNS, now: NOW }),
      )
    }
    return measured
  } finally {
    await client.close()
  }
}

const HEAD = [
  'question',
  'service median',
  'p95',
  'by hand median',
  'p95',
  'by hand / service',
  'as usual median',
  'as usual / service',
  'rows read by the service',
  'quickest by hand',
]

function printQuestions(project: string, measured: readonly Measured[]): void {
  console.log(`\nProject \`${project}\`; milliseconds:\n`)
  const lines = measured
    .filter(({ question }) => question.project === project)
    .map(({ question, service, byHand, usual, rowsRead, way }) => [
      `${question.period.name}, ${question.shape.name}`,
      ...[service.median, service.p95, byHand.median, byHand.p95].map(tenths),
      tenths(byHand.median / service.median),
      usual === undefined ? '–' : tenths(usual.median),
      usual === undefined ? '–' : tenths(usual.median / service.median),
      whole(rowsRead),
      way,
    ])
  printTable(HEAD, lines)
}

async function printCheck({ writer }: Store): Promise<void> {
  const { months, groups, different, differences } = await checkRollups(writer, {})
  if (different > 0) throw new Error(`the rollups differ: ${JSON.stringify(differences[0])}`)
  console.log(`\nAll ${whole(groups)} groups of ${months} months are as the facts have them.`)
}

async function run(dataDir: string): Promise<void> {
  const tokens = await fill(dataDir)
  const service = await serve(dataDir)
  const store = connectStore(await endpointOf(dataDir))
  try {
    await settle(store)
    const measured = await measureAll(dataDir, service.address, tokens)
    await printMachine(NOW)
    console.log(`about ${whole(EVENTS)} events; each ${RUNS} times, as usual ${USUAL_RUNS} times`)
    for (const project of [LARGE, SMALL]) printQuestions(project, measured)
    console.log('\nDisk:\n')
    await printDisk(store)
    if (process.env['CHECK'] === '1') await printCheck(store)
  } finally {
    await store.close()
    await service.stop()
  }
  console.log('\nLoading:\n')
  await printLoadRates()
}

const given = process.env['DATA_DIR']
const dataDir = given ?? (await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-bench-')))
try {
  await run(dataDir)
} finally {
  if (given === undefined) await rm(dataDir, { recursive: true, force: true })
}
