/** Measures the collector with the loader at work: requests and events per second, and the delay until queries see them. */
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { StoredProject } from '../src/projects/project.js'
import { createProject } from '../src/projects/store.js'
import { createVisit, findChild, readMemory } from './shared/collecting.js'
import { printMachine, printTable, formatTenths, formatWhole } from './shared/figures.js'
import { PROJECT } from './shared/fresh-store.js'
import { sendLoad, type Loaded } from './shared/http-load.js'
import { openBenchStore } from './shared/data-folder.js'
import {
  createQueryClient,
  issueToken,
  startServiceProcess,
  type RunningService,
} from './shared/service.js'

const NOW = new Date()
/** Length of each run. */
const SECONDS = Number(process.env['SECONDS'] ?? 30)
/** Length of the run whose memory is measured, in seconds; 0 for none. */
const SOAK = Number(process.env['SOAK'] ?? 0)
const SOAK_RATE = Number(process.env['SOAK_RATE'] ?? 2_000)
/** Below this delay, the events of the run before have been loaded. */
const DRAINED_MS = 2_500
const CONNECTIONS = Number(process.env['CONNECTIONS'] ?? 100)

const sendEvents = (
  address: string,
  { token }: StoredProject,
  size: number,
  seconds: number,
  rate?: number,
): Promise<Loaded> =>
  sendLoad({
    url: `${address}/v1/events`,
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: (n) =>
      size === 1
        ? JSON.stringify(createVisit(n))
        : JSON.stringify(Array.from({ length: size }, (_, i) => createVisit(n * size + i))),
    connections: CONNECTIONS,
    seconds,
    ...(rate === undefined ? {} : { rate }),
  })

/** Sends an event; returns the milliseconds from then to the first response that counts it. */
async function measureDelay(
  address: string,
  project: StoredProject,
  sendQuery: (body: string) => Promise<unknown>,
): Promise<number> {
  const name = `seen-${randomUUID()}`
  const begun = performance.now()
  const response = await fetch(`${address}/v1/events`, {
    method: 'POST',
    headers: { authorization: `Bearer ${project.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name, user_id: 'u' }),
  })
  if (response.status !== 202) throw new Error(`the collector responded with ${response.status}`)
  const query = JSON.stringify({
    date_range: 'today',
    metrics: ['events'],
    filters: [{ type: 'event', name: { operator: 'eq', value: name } }],
  })
  for (;;) {
    const { data } = (await sendQuery(query)) as { data: { metrics: { events: number } }[] }
    if (data[0]?.metrics.events === 1) return performance.now() - begun
    await sleep(50)
  }
}

const formatLine = (
  name: string,
  size: number,
  { rate, latencies, statuses }: Loaded,
): readonly string[] => {
  const at = (share: number): number => latencies[Math.ceil(share * latencies.length) - 1] ?? 0
  return [
    name,
    formatWhole(rate),
    formatWhole(rate * size),
    formatTenths(at(0.5)),
    formatTenths(at(0.99)),
    formatWhole(latencies.length - (statuses.get('202') ?? 0)),
  ]
}

async function measure(
  service: RunningService,
  project: StoredProject,
  token: string,
): Promise<void> {
  const { address } = service
  const sendQuery = createQueryClient(address, token)
  await sendEvents(address, project, 1, 5)
  const lines: (readonly string[])[] = []
  const waits: (readonly string[])[] = []
  for (const [name, size, rate] of [
    ['one event, as many as possible', 1, undefined],
    ['one event, 3,000 per second', 1, 3_000],
    ['100 events, as many as possible', 100, undefined],
    ['100 events, 300 per second', 100, 300],
  ] as const) {
    // Wait until the events of the run before are loaded.
    while ((await measureDelay(address, project, sendQuery)) > DRAINED_MS);
    const running = sendEvents(address, project, size, SECONDS, rate)
    const seen: number[] = []
    const watching = (async () => {
      for (const end = performance.now() + SECONDS * 900; performance.now() < end;) {
        seen.push(await measureDelay(address, project, sendQuery))
      }
    })()
    lines.push(formatLine(name, size, await running))
    await watching
    waits.push([name, String(seen.length), formatTenths(Math.max(...seen) / 1_000)])
  }
  await sleep(5_000)
  const seen: number[] = []
  for (let i = 0; i < 10; i++) seen.push(await measureDelay(address, project, sendQuery))
  waits.push(['nothing else', String(seen.length), formatTenths(Math.max(...seen) / 1_000)])
  printTable(['requests of', 'requests/s', 'events/s', 'median ms', 'p99 ms', 'not 202'], lines)
  console.log()
  printTable(['from the collector to a response', 'tries', 'longest, s'], waits)
}

async function soak(service: RunningService, project: StoredProject): Promise<void> {
  const enginePid = await findChild(service.pid)
  const samples: { readonly service: number; readonly engine: number }[] = []
  const running = sendEvents(service.address, project, 1, SOAK, SOAK_RATE)
  for (let i = 0; i < SOAK / 5; i++) {
    await sleep(5_000)
    samples.push({ service: await readMemory(service.pid), engine: await readMemory(enginePid) })
  }
  const result = await running
  const mean = (of: readonly { readonly service: number; readonly engine: number }[]) => ({
    service: of.reduce((sum, one) => sum + one.service, 0) / of.length,
    engine: of.reduce((sum, one) => sum + one.engine, 0) / of.length,
  })
  const fifth = Math.ceil(samples.length / 5)
  console.log()
  printTable(
    [
      `${SOAK} s of ${formatWhole(SOAK_RATE)} requests of one event per second`,
      'service MB',
      'engine MB',
    ],
    Array.from({ length: 5 }, (_, i) => {
      const { service: own, engine } = mean(samples.slice(i * fifth, (i + 1) * fifth))
      return [`fifth ${i + 1}`, formatWhole(own), formatWhole(engine)]
    }),
  )
  console.log()
  printTable(
    ['requests of', 'requests/s', 'events/s', 'median ms', 'p99 ms', 'not 202'],
    [formatLine('one event', 1, result)],
  )
}

const dataDir = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-bench-'))
try {
  const opened = await openBenchStore(dataDir)
  const fields = { id: PROJECT, name: 'Bench', domain: 'example.com' }
  const project = await createProject(opened.store, fields, NOW)
  const token = await issueToken(opened.store, dataDir, project.id, NOW)
  await opened.close()
  await printMachine(NOW)
  console.log()
  const service = await startServiceProcess(dataDir)
  try {
    await measure(service, project, token)
    if (SOAK > 0) await soak(service, project)
  } finally {
    await service.stop()
  }
} finally {
  await rm(dataDir, { recursive: true })
}
