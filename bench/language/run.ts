/** Fills a data folder, starts the service on it, and measures questions about its large project. */
import { connectStore, type Store } from '../../src/clickhouse/store.js'
import { measurePair, type Measured } from './measure.js'
import type { Pair } from './pair.js'
import { printMeasured, TABLES } from './tables.js'
import { waitForMerges } from '../reads/disk.js'
import { generateYear, LARGE } from '../reads/generate.js'
import { createBareClient, findEndpoint } from '../shared/bare.js'
import { openBenchStore } from '../shared/data-folder.js'
import { formatWhole, printMachine } from '../shared/figures.js'
import { createClient, issueToken, startServiceProcess } from '../shared/service.js'

const EVENTS = Number(process.env['EVENTS'] ?? 20_000_000)
const RUNS = Number(process.env['RUNS'] ?? 15)
/** Measures only the questions whose names have this text. */
export const ONLY = process.env['ONLY'] ?? ''
const NOW = new Date()

export interface Questions {
  readonly pairs: readonly Pair[]
  readonly table: keyof typeof TABLES
  /** Adds what the questions are about, and the generated year has not. May be repeated. */
  readonly prepare?: (store: Store) => Promise<void>
  /** Prints what else is to be known of the store. */
  readonly printStore?: (store: Store) => Promise<void>
}

async function fill(dataDir: string, { prepare }: Questions): Promise<string> {
  const opened = await openBenchStore(dataDir)
  try {
    await generateYear(opened.store, EVENTS)
    await prepare?.(opened.store)
    return await issueToken(opened.store, dataDir, LARGE, NOW)
  } finally {
    await opened.close()
  }
}

async function measureAll(
  pairs: readonly Pair[],
  store: Store,
  dataDir: string,
  address: string,
  token: string,
): Promise<readonly Measured[]> {
  // The admin account sets no limits for the hand-written statements.
  const client = createBareClient(await findEndpoint(dataDir), 'admin', 600)
  const measured: Measured[] = []
  try {
    for (const pair of pairs) {
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

/** Measures questions and prints a table of them. */
export async function measureQuestions(dataDir: string, questions: Questions): Promise<void> {
  const token = await fill(dataDir, questions)
  const service = await startServiceProcess(dataDir)
  const store = connectStore(await findEndpoint(dataDir))
  try {
    await waitForMerges(store)
    const measured = await measureAll(questions.pairs, store, dataDir, service.address, token)
    await printMachine(NOW)
    console.log(`about ${formatWhole(EVENTS)} events; each question ${RUNS} times\n`)
    printMeasured(TABLES[questions.table], measured)
    await questions.printStore?.(store)
  } finally {
    await store.close()
    await service.stop()
  }
}
