/** Measures the query language: each question beside a simpler one, or beside the best statement by hand. */
import { connectStore, type Store } from '../../src/clickhouse/store.js'
import { COHORT_PAIRS } from './cohorts.js'
import { measurePair, type Measured } from './measure.js'
import { QUERY_PAIRS } from './queries.js'
import { printStreams } from './streams.js'
import { waitForMerges } from '../reads/disk.js'
import { generateYear, LARGE } from '../reads/generate.js'
import { createBareClient, findEndpoint } from '../shared/bare.js'
import { openBenchStore, withDataFolder } from '../shared/data-folder.js'
import { formatTenths, formatWhole, printMachine, printTable } from '../shared/figures.js'
import { createClient, issueToken, startServiceProcess } from '../shared/service.js'

const EVENTS = Number(process.env['EVENTS'] ?? 20_000_000)
const RUNS = Number(process.env['RUNS'] ?? 15)
/** Measures only the questions whose names have this text. */
const ONLY = process.env['ONLY'] ?? ''
const NOW = new Date()

async function fill(dataDir: string): Promise<string> {
  const opened = await openBenchStore(dataDir)
  try {
    await generateYear(opened.store, EVENTS)
    return await issueToken(opened.store, dataDir, LARGE, NOW)
  } finally {
    await opened.close()
  }
}

async function measureAll(
  store: Store,
  dataDir: string,
  address: string,
  token: string,
): Promise<readonly Measured[]> {
  // The admin account sets no limits for the hand-written statements.
  const client = createBareClient(await findEndpoint(dataDir), 'admin', 600)
  const measured: Measured[] = []
  try {
    for (const pair of [...QUERY_PAIRS, ...COHORT_PAIRS]) {
      if (!pair.name.includes(ONLY)) continue
      console.error(`${pair.name}, beside: ${pair.beside.name}`)
      const send = createClient(address, token)
      measured.push(await measurePair(pair, { store, send, client, runs: RUNS }))
    }
    return measured
  } finally {
    await client.close()
  }
}

const HEAD = [
  'question',
  'beside',
  'ms',
  'ms beside',
  'times',
  'statement alone, ms',
  'times',
  'CPU ms',
  'CPU ms beside',
  'times',
  'rows read',
  'rows read beside',
  'target',
]

function describeTarget({ pair: { target }, asked, beside }: Measured): string {
  if (target === undefined) return '–'
  const [text, isMet] =
    'ms' in target
      ? [`${target.ms} ms`, asked.ms < target.ms]
      : [`${target.times} ×`, asked.ms <= target.times * beside.ms]
  return isMet ? text : `${text}: missed`
}

function printMeasured(measured: readonly Measured[]): void {
  const lines = measured.map((one) => {
    const { pair, asked, beside, alone } = one
    return [
      pair.name,
      pair.beside.name,
      ...[asked.ms, beside.ms].map(formatTenths),
      (asked.ms / beside.ms).toFixed(2),
      ...(alone === undefined
        ? ['–', '–']
        : [formatTenths(alone.ms), (alone.ms / beside.ms).toFixed(2)]),
      ...[asked.cpuMs, beside.cpuMs].map(formatTenths),
      (asked.cpuMs / beside.cpuMs).toFixed(2),
      ...[asked.rowsRead, beside.rowsRead].map(formatWhole),
      describeTarget(one),
    ]
  })
  printTable(HEAD, lines)
}

async function run(dataDir: string): Promise<void> {
  const token = await fill(dataDir)
  const service = await startServiceProcess(dataDir)
  const store = connectStore(await findEndpoint(dataDir))
  try {
    await waitForMerges(store)
    const measured = await measureAll(store, dataDir, service.address, token)
    await printMachine(NOW)
    console.log(`about ${formatWhole(EVENTS)} events; each question ${RUNS} times\n`)
    printMeasured(measured)
  } finally {
    await store.close()
    await service.stop()
  }
  if (ONLY !== '') return
  console.log('\nStreams:\n')
  await printStreams()
}

await withDataFolder(run)
