/** Measures answers that are streamed: how fast the rows come, and the memory of the service meanwhile. */
import { readFile, mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { MEDIA_TYPES } from '../src/contract/answer-formats.js'
import { send, newProject } from '../test/support/world/world.js'
import { openBenchStore } from './shared/data-folder.js'
import { formatTenths, formatWhole, printMachine, printTable } from './shared/figures.js'
import { issueToken, startServiceProcess, type RunningService } from './shared/service.js'

/** Each event has a path of its own, so the answer has as many rows. */
const ROWS = Number(process.env['ROWS'] ?? 100_000)
/** A client that takes this many bytes per second. */
const SLOW_BYTES = 500_000
const DAY = '2026-06-14'

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

async function readStream(
  { address, pid }: RunningService,
  token: string,
  type: string,
  bytesPerSecond = Infinity,
): Promise<Stream> {
  const begun = performance.now()
  const response = await fetch(`${address}/v1/analytics/query`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      Accept: type,
    },
    body: JSON.stringify({ date_range: [DAY, DAY], group_by: ['page:path'], limit: 'all' }),
  })
  let bytes = 0
  let most = await readMemory(pid)
  for await (const chunk of response.body ?? []) {
    bytes += (chunk as Uint8Array).length
    most = Math.max(most, await readMemory(pid))
    await sleep((bytes / bytesPerSecond) * 1_000 - (performance.now() - begun))
  }
  return { seconds: (performance.now() - begun) / 1_000, bytes, most }
}

async function fill(dataDir: string): Promise<string> {
  const opened = await openBenchStore(dataDir)
  try {
    const project = await newProject(opened.store)
    const events = Array.from({ length: ROWS }, (_, i) => ({
      timestamp: `${DAY}T10:00:00Z`,
      user_id: `u${i % 1_000}`,
      url: `https://example.com/articles/${i}/the-title-of-an-article`,
    }))
    await send(opened.store, project, events)
    return await issueToken(opened.store, dataDir, project.id, new Date())
  } finally {
    await opened.close()
  }
}

const dataDir = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-bench-'))
try {
  const token = await fill(dataDir)
  const service = await startServiceProcess(dataDir, {})
  const lines: string[][] = []
  const measure = async (name: string, type: string, speed?: number): Promise<void> => {
    const before = await readMemory(service.pid)
    const { seconds, bytes, most } = await readStream(service, token, type, speed)
    lines.push([
      name,
      formatTenths(seconds),
      formatTenths(bytes / 1e6),
      formatWhole(ROWS / seconds),
      formatWhole(before),
      formatWhole(most),
    ])
  }
  // The first streams load the libraries.
  const types = Object.entries(MEDIA_TYPES).filter(([name]) => name !== 'json')
  for (const [, type] of types) await readStream(service, token, type)
  for (const [name, type] of types) await measure(name, type)
  await measure('csv, slow client', MEDIA_TYPES.csv, SLOW_BYTES)
  await service.stop()
  await printMachine(new Date())
  printTable(['format', 's', 'MB', 'rows/s', 'memory before, MB', 'most, MB'], lines)
} finally {
  await rm(dataDir, { recursive: true, force: true })
}
