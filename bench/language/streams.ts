/** Measures answers that are streamed: how fast rows and exported events come, and the memory of the service meanwhile. */
import { readFile, mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { MEDIA_TYPES, type TableFormat } from '../../src/contract/response-formats.js'
import { send, newProject } from '../../test/support/world/world.js'
import { openBenchStore } from '../shared/data-folder.js'
import { formatTenths, formatWhole, printTable } from '../shared/figures.js'
import { issueToken, startServiceProcess, type RunningService } from '../shared/service.js'

/** How many rows the answer of a day has. */
interface Day {
  readonly day: string
  readonly rows: number
}
/** Each event has a path of its own, so the answer has as many rows. */
const FEW: Day = { day: '2026-06-14', rows: 100_000 }
const MANY: Day = { day: '2026-06-15', rows: 1_000_000 }
/** Events that are sent at once. */
const BATCH = 100_000
/** A client that takes this many bytes per second. */
const SLOW_BYTES = 500_000
/** How often the memory is read. */
const SAMPLE_MS = 20

const toMegabytes = (kilobytes: number): number => kilobytes / 1_024

/** Reads the resident memory of a process, in MB. */
async function readMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return toMegabytes(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]))
}

interface Stream {
  readonly seconds: number
  readonly bytes: number
  /** The most memory meanwhile, in MB. */
  readonly most: number
}

/** A stream to measure; the client takes as many bytes per second as come, unless said otherwise. */
interface Asked extends Day {
  readonly of: keyof typeof REQUESTS
  readonly format: TableFormat
  readonly bytesPerSecond?: number
}

/** The requests for a day: with a row for each path, and with one for each event. */
const REQUESTS = {
  rows: { path: '/v1/analytics/query', body: { group_by: ['page:path'], limit: 'all' } },
  events: { path: '/v1/events/export', body: {} },
} as const

async function readStream(
  { address, pid }: RunningService,
  token: string,
  { of, day, format, bytesPerSecond = Infinity }: Asked,
): Promise<Stream> {
  const begun = performance.now()
  const response = await fetch(address + REQUESTS[of].path, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      Accept: MEDIA_TYPES[format],
    },
    body: JSON.stringify({ date_range: [day, day], ...REQUESTS[of].body }),
  })
  if (response.status !== 200) throw new Error(await response.text())
  let bytes = 0
  const samples = sampleMemory(pid)
  for await (const chunk of response.body ?? []) {
    bytes += (chunk as Uint8Array).length
    const ahead = (bytes / bytesPerSecond) * 1_000 - (performance.now() - begun)
    if (ahead > 0) await sleep(ahead)
  }
  const seconds = (performance.now() - begun) / 1_000
  return { seconds, bytes, most: await samples.stop() }
}

/** Reads the memory of a process until it is stopped, which returns the most. */
function sampleMemory(pid: number) {
  let isStopped = false
  const sample = async (): Promise<number> => {
    let most = 0
    while (!isStopped) {
      most = Math.max(most, await readMemory(pid))
      await sleep(SAMPLE_MS)
    }
    return most
  }
  const most = sample()
  return {
    stop: () => {
      isStopped = true
      return most
    },
  }
}

async function fill(dataDir: string): Promise<string> {
  const opened = await openBenchStore(dataDir)
  try {
    const project = await newProject(opened.store)
    for (const { day, rows } of [FEW, MANY]) {
      for (let first = 0; first < rows; first += BATCH) {
        const events = Array.from({ length: Math.min(BATCH, rows - first) }, (_, i) => ({
          timestamp: `${day}T10:00:00Z`,
          user_id: `u${i % 1_000}`,
          url: `https://example.com/articles/${first + i}/the-title-of-an-article`,
        }))
        await send(opened.store, project, events)
      }
    }
    return await issueToken(opened.store, dataDir, project.id, new Date())
  } finally {
    await opened.close()
  }
}

const FORMATS = ['csv', 'ndjson', 'arrow', 'parquet'] as const satisfies readonly TableFormat[]
const STREAMS: readonly Asked[] = [
  ...FORMATS.map((format) => ({ of: 'rows', ...FEW, format }) as const),
  ...FORMATS.map((format) => ({ of: 'rows', ...MANY, format }) as const),
  { of: 'rows', ...FEW, format: 'csv', bytesPerSecond: SLOW_BYTES },
  ...FORMATS.map((format) => ({ of: 'events', ...FEW, format }) as const),
  ...FORMATS.map((format) => ({ of: 'events', ...MANY, format }) as const),
]

/** Prints how fast answers of many rows are sent, and the memory of the service. */
export async function printStreams(): Promise<void> {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-bench-'))
  try {
    const token = await fill(dataDir)
    const service = await startServiceProcess(dataDir)
    // The first streams load the libraries.
    for (const format of FORMATS) await readStream(service, token, { of: 'rows', ...FEW, format })
    const lines: string[][] = []
    for (const asked of STREAMS) {
      const before = await readMemory(service.pid)
      const { seconds, bytes, most } = await readStream(service, token, asked)
      const name = `${formatWhole(asked.rows)} ${asked.of} as ${asked.format}`
      lines.push([
        asked.bytesPerSecond === undefined ? name : `${name}, ${asked.bytesPerSecond / 1e6} MB/s`,
        formatTenths(seconds),
        formatTenths(bytes / 1e6),
        formatWhole(asked.rows / seconds),
        formatWhole(before),
        formatWhole(most),
      ])
    }
    await service.stop()
    printTable(['stream', 's', 'MB', 'rows/s', 'memory before, MB', 'most, MB'], lines)
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}
