/** Measures queries on many events: the service, hand-written statements, and the usual statements. */
import { connectStore, type Store } from '../src/clickhouse/store.js'
import { createBareClient, findEndpoint } from './shared/bare.js'
import { printDisk, waitForMerges } from './reads/disk.js'
import { printMachine, printTable, formatTenths, formatWhole } from './shared/figures.js'
import { generateYear, LARGE, SMALL } from './reads/generate.js'
import { printLoadRates, VIEWS } from './shared/load-rate.js'
import { measure, type Measured } from './reads/measure.js'
import { QUERIES } from './reads/queries.js'
import { createQueryClient, issueToken, startServiceProcess } from './shared/service.js'
import { isPaired } from '../src/rollups/paired-projects.js'
import { readProjectSizes } from '../src/projects/project-sizes.js'
import { checkRollups } from '../test/support/store/loading.js'
import { openBenchStore, withDataFolder } from './shared/data-folder.js'

const EVENTS = Number(process.env['EVENTS'] ?? 20_000_000)
const RETURNING = process.env['RETURNING'] === 'seldom' ? 'seldom' : 'often'
const RUNS = Number(process.env['RUNS'] ?? 15)
/** The usual statements take long. */
const USUAL_RUNS = Math.min(RUNS, 3)
const NOW = new Date()

type Tokens = ReadonlyMap<string, string>

/** Fills the data folder, and issues a key for each project that is queried. */
async function fill(dataDir: string): Promise<Tokens> {
  const opened = await openBenchStore(dataDir)
  try {
    await generateYear(opened.store, EVENTS, RETURNING)
    const tokens = new Map<string, string>()
    for (const project of [LARGE, SMALL]) {
      tokens.set(project, await issueToken(opened.store, dataDir, project, NOW))
    }
    return tokens
  } finally {
    await opened.close()
  }
}

/** Measures all queries, one after another. */
async function measureAll(store: Store, dataDir: string, address: string, tokens: Tokens) {
  const readSizes = (project: string) => readProjectSizes(store.lookups, project, NOW)
  // The admin account sets no limits for the hand-written statements.
  const client = createBareClient(await findEndpoint(dataDir), 'admin', 600)
  const clients = new Map(
    [...tokens].map(([project, token]) => [project, createQueryClient(address, token)]),
  )
  const measured: Measured[] = []
  try {
    for (const query of QUERIES) {
      const { project, period, shape } = query
      console.error(`${project}, ${period.name}, ${shape.name}`)
      const sendQuery = clients.get(project)!
      measured.push(
        await measure(query, {
          store,
          sendQuery,
          client,
          runs: RUNS,
          usualRuns: USUAL_RUNS,
          now: NOW,
          readSizes,
          isPaired: (one) => isPaired(store.lookups, one),
        }),
      )
    }
    return measured
  } finally {
    await client.close()
  }
}

const HEAD = [
  'query',
  'service median',
  'p95',
  'CPU',
  'by hand median',
  'p95',
  'CPU',
  'by hand / service',
  'of CPU',
  'as usual median',
  'as usual / service',
  'rows read by the service',
  'fastest by hand',
]

function printQueries(project: string, measured: readonly Measured[]): void {
  console.log(`\nProject \`${project}\`; milliseconds:\n`)
  const lines = measured
    .filter(({ query }) => query.project === project)
    .map(({ query, service, byHand, usual, rowsRead, way }) => [
      `${query.period.name}, ${query.shape.name}`,
      ...[service, byHand]
        .flatMap(({ median, p95, cpuMs }) => [median, p95, cpuMs])
        .map(formatTenths),
      formatTenths(byHand.median / service.median),
      formatTenths(byHand.cpuMs / service.cpuMs),
      usual === undefined ? '–' : formatTenths(usual.median),
      usual === undefined ? '–' : formatTenths(usual.median / service.median),
      formatWhole(rowsRead),
      way,
    ])
  printTable(HEAD, lines)
}

async function printCheck({ writer }: Store): Promise<void> {
  const { months, groups, different, differences } = await checkRollups(writer, {})
  if (different > 0) throw new Error(`the rollups differ: ${JSON.stringify(differences[0])}`)
  console.log(`\nAll ${formatWhole(groups)} groups of ${months} months agree with the facts.`)
}

async function run(dataDir: string): Promise<void> {
  const tokens = await fill(dataDir)
  const service = await startServiceProcess(dataDir)
  const store = connectStore(await findEndpoint(dataDir))
  try {
    await waitForMerges(store)
    const measured = await measureAll(store, dataDir, service.address, tokens)
    await printMachine(NOW)
    console.log(
      `about ${formatWhole(EVENTS)} events, users return ${RETURNING}; each ${RUNS} times, as usual ${USUAL_RUNS} times`,
    )
    for (const project of [LARGE, SMALL]) printQueries(project, measured)
    console.log('\nDisk:\n')
    await printDisk(store)
    if (process.env['CHECK'] === '1') await printCheck(store)
  } finally {
    await store.close()
    await service.stop()
  }
  console.log('\nLoading:\n')
  await printLoadRates(VIEWS)
}

await withDataFolder(run)
