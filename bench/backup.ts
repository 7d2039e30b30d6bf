/** Measures a backup and its restore, and asks random questions before and after: each must get the same bytes. */
import fc from 'fast-check'
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { createProject } from '../src/projects/store.js'
import { rollupEvent, rollupRequest } from '../test/support/arbitrary/rollups.js'
import { runCli } from '../test/support/cli/cli.js'
import { importEvents } from '../test/support/store/loading.js'
import type { PartialRequest } from '../test/support/world/world.js'
import { generateYear, LARGE } from './reads/generate.js'
import { createVisit } from './shared/collecting.js'
import { send } from './shared/demo-service.js'
import { formatTenths, formatWhole, measureMs, printMachine, printTable } from './shared/figures.js'
import { streamChunks } from './shared/loading.js'
import { issueToken, startServiceProcess, type RunningService } from './shared/service.js'
import { openBenchStore } from './shared/data-folder.js'

const EVENTS = Number(process.env['EVENTS'] ?? 10_000_000)
const QUESTIONS = 500
const SEED = 20_260_615
/** Events of the property tests, loaded as an import: with sessions that change, event ids and users to look up. */
const RANDOM_EVENTS = 20_000
const RANDOM = 'random'
/** Gets events while the backup is written; no question is about it. */
const LIVE = 'live'
const PAUSE_MS = 100
const NOW = new Date()

/** The keys of the two projects that are asked about, and the public token of the one that gets events. */
interface Tokens {
  readonly large: string
  readonly random: string
  readonly live: string
}

async function fill(dataDir: string): Promise<Tokens> {
  const opened = await openBenchStore(dataDir)
  const { store } = opened
  try {
    await generateYear(store, EVENTS)
    await createProject(store, { id: RANDOM, name: RANDOM, domain: 'example.com' }, NOW)
    const events = fc.sample(rollupEvent, { seed: SEED, numRuns: RANDOM_EVENTS })
    const lines = events.map((event) => `${JSON.stringify(event)}\n`).join('')
    await importEvents(store, streamChunks([Buffer.from(lines)]), {
      now: NOW,
      projectId: RANDOM,
      onRejected: (rows) => {
        throw new Error(rows[0]?.reason)
      },
    })
    const live = await createProject(store, { id: LIVE, name: LIVE, domain: 'example.com' }, NOW)
    return {
      large: await issueToken(store, dataDir, LARGE, NOW),
      random: await issueToken(store, dataDir, RANDOM, NOW),
      live: live.token,
    }
  } finally {
    await opened.close()
  }
}

/** Moves the period of a question from 2024 to 2025, the year of the generated events. */
function moveYear(question: PartialRequest): PartialRequest {
  const { date_range } = question
  if (typeof date_range === 'string' || 'last' in date_range) return question
  const [from, to] = [date_range[0], date_range[1]].map((text) =>
    text.replace(/^\d+/, (year) => String(Number(year) + 1)).replace('-02-29', '-02-28'),
  )
  return { ...question, date_range: [from!, to!].toSorted() as [string, string] }
}

interface Answer {
  readonly status: number
  readonly text: string
}

/** Asks all questions, half of them about each project. */
async function askAll({ address }: RunningService, tokens: Tokens): Promise<readonly Answer[]> {
  const answers: Answer[] = []
  const questions = fc.sample(rollupRequest, { seed: SEED, numRuns: QUESTIONS })
  for (const [n, question] of questions.entries()) {
    const [token, body] =
      n % 2 === 0 ? [tokens.random, question] : [tokens.large, moveYear(question)]
    const response = await fetch(`${address}/v1/analytics/query`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
    answers.push({ status: response.status, text: await response.text() })
  }
  return answers
}

/** Runs a command to its end; returns its seconds. */
async function runCommand(dataDir: string, ...args: readonly string[]): Promise<number> {
  const ms = await measureMs(async () => {
    const { code, stderr } = await runCli(args, { DATA_DIR: dataDir })
    if (code !== 0) throw new Error(stderr)
  })
  return ms / 1_000
}

const readSize = async (folder: string): Promise<number> =>
  Number.parseInt((await promisify(execFile)('du', ['-s', '-B1', folder])).stdout) / 1_000_000

interface Meanwhile {
  asked: number
  failedQueries: number
  slowestMs: number
  sent: number
  failedEvents: number
}

/** Sends queries and events in turn until `isOver`. */
async function use(
  service: RunningService,
  tokens: Tokens,
  isOver: () => boolean,
): Promise<Meanwhile> {
  const seen = { asked: 0, failedQueries: 0, slowestMs: 0, sent: 0, failedEvents: 0 }
  const query = { date_range: ['2025-05-17', '2025-06-15'], group_by: ['page:path'] }
  while (!isOver()) {
    const { status, ms } = await send(service, tokens.large, query)
    seen.asked++
    if (status !== 200) seen.failedQueries++
    seen.slowestMs = Math.max(seen.slowestMs, ms)
    const collected = await fetch(`${service.address}/v1/events`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${tokens.live}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(createVisit(seen.sent++)),
    })
    await collected.arrayBuffer()
    if (collected.status !== 202) seen.failedEvents++
    await sleep(PAUSE_MS)
  }
  return seen
}

async function withService<T>(
  dataDir: string,
  work: (service: RunningService) => Promise<T>,
): Promise<T> {
  const service = await startServiceProcess(dataDir)
  try {
    return await work(service)
  } finally {
    await service.stop()
  }
}

async function backUp(folder: string, source: string, tokens: Tokens) {
  return withService(source, async (service) => {
    const answers = await askAll(service, tokens)
    let isOver = false
    const using = use(service, tokens, () => isOver)
    const seconds = await runCommand(source, 'backup', path.join(folder, 'backup')).finally(() => {
      isOver = true
    })
    return { answers, seconds, meanwhile: await using }
  })
}

const folder = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-bench-'))
try {
  const [source, target] = [path.join(folder, 'source'), path.join(folder, 'target')]
  const tokens = await fill(source)
  const { answers, seconds, meanwhile } = await backUp(folder, source, tokens)
  const restored = await runCommand(target, 'restore', path.join(folder, 'backup'))
  const again = await withService(target, (service) => askAll(service, tokens))
  const isSame = (one: Answer, n: number): boolean =>
    one.status === again[n]!.status && one.text === again[n]!.text
  const count = (has: (answer: Answer, n: number) => boolean): string =>
    formatWhole(answers.filter(has).length)
  const sizes = await Promise.all(
    ['source', 'backup', 'target'].map((name) => readSize(path.join(folder, name))),
  )
  await printMachine(NOW)
  printTable(
    ['events', 'store MB', 'backup MB', 'restored MB', 'backup s', 'restore s'],
    [
      [
        formatWhole(EVENTS),
        ...sizes.map(formatWhole),
        formatTenths(seconds),
        formatTenths(restored),
      ],
    ],
  )
  console.log()
  printTable(
    ['questions', '200', 'with rows', 'the same after the restore'],
    [
      [
        formatWhole(answers.length),
        count(({ status }) => status === 200),
        count(({ text }) => !text.includes('"data":[]')),
        count(isSame),
      ],
    ],
  )
  console.log(`\nwhile the backup was written: ${JSON.stringify(meanwhile)}`)
  const different = answers.findIndex((answer, n) => !isSame(answer, n))
  if (different !== -1) throw new Error(`${answers[different]!.text}\n${again[different]!.text}`)
} finally {
  await rm(folder, { recursive: true, force: true })
}
