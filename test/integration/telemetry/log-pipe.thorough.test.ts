/** A service whose log nobody reads: it serves, counts what it drops, and stops. A read log has a line for each request. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { packagePath } from '../../../src/lib/package-path.js'

let dataDir: string
beforeEach(async () => {
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-log-'))
})
afterEach(() => rm(dataDir, { recursive: true, force: true }))

interface Run {
  readonly child: ChildProcess
  readonly service: string
  readonly metrics: string
  /** The log so far. */
  readonly log: () => string
}

/** Starts a service and reads its log until it listens. */
async function serve(env: NodeJS.ProcessEnv = {}): Promise<Run> {
  const child = spawn(process.execPath, [packagePath('dist/cli.js'), 'serve'], {
    env: { PATH: process.env['PATH'], DATA_DIR: dataDir, PORT: '0', METRICS_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let log = ''
  const find = (pattern: RegExp): string | undefined => pattern.exec(log)?.[1]
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error(log)))
    child.stdout.on('data', (data: Buffer) => {
      log += data.toString()
      if (find(/"address":"([^"]+)"/) !== undefined) resolve()
    })
  })
  return {
    child,
    service: find(/"address":"([^"]+)"/)!,
    metrics: find(/"metrics":"([^"]+)"/)!,
    log: () => log,
  }
}

const REQUESTS = 26_000

/** Sends probes over one connection without waiting for the responses; returns how many succeeded. */
async function sendPipelined(port: number, count: number): Promise<number> {
  const socket = net.connect(port, '127.0.0.1')
  const request = `GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: ${'x'.repeat(64)}\r\n\r\n`
  const last = `GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`
  socket.end(request.repeat(count - 1) + last)
  return (await text(socket)).match(/HTTP\/1\.1 200 OK/g)?.length ?? 0
}

test('nobody reads: requests are served, lines are dropped and counted, and it stops', async () => {
  const { child, service, metrics } = await serve({ LOG_LEVEL: 'debug' })
  child.stdout!.pause()
  const countDropped = async (): Promise<number> => {
    const samples = await (await fetch(metrics)).text()
    return Number(/^tallyhouse_log_lines_dropped_total (\d+)$/m.exec(samples)![1])
  }
  // Each line has about 200 characters, and 4 million are kept.
  expect(await sendPipelined(Number(new URL(service).port), REQUESTS)).toBe(REQUESTS)
  expect(await countDropped()).toBeGreaterThan(0)
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
})

test('a signal under load: every response has its line', async () => {
  const { child, service, log } = await serve()
  const answered: string[] = []
  const client = async (name: number): Promise<void> => {
    for (let i = 0; ; i++) {
      const id = `client-${name}-${i}`
      const response = await fetch(`${service}/v1/project`, { headers: { 'X-Request-Id': id } })
      await response.arrayBuffer()
      answered.push(id)
    }
  }
  // Each client ends with the first connection that is refused.
  const clients = Array.from({ length: 20 }, (_, name) => client(name).catch(() => undefined))
  setTimeout(() => child.kill('SIGTERM'), 500)
  const ended = once(child, 'close')
  await Promise.all(clients)
  expect(await ended).toEqual([0, null])
  const logged = [...log().matchAll(/"requestId":"([^"]+)"/g)].map(([, id]) => id!)
  expect(answered.length).toBeGreaterThan(20)
  expect(answered.filter((id) => !logged.includes(id))).toEqual([])
  expect(new Set(logged).size).toBe(logged.length)
})

test('a crash: every response has its line, and so has the crash', async () => {
  const intruder = `process.on('SIGUSR2',()=>{throw new Error('the crash of the test')})`
  const { child, service, log } = await serve({
    NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(intruder)}`,
  })
  let answered = 0
  const ended = once(child, 'close')
  const client = async (): Promise<never> => {
    for (;;) {
      const response = await fetch(`${service}/v1/project`)
      await response.arrayBuffer()
      answered += 1
      if (answered === 20) child.kill('SIGUSR2')
    }
  }
  // It ends with the first connection that is refused.
  await expect(client()).rejects.toThrow()
  expect(await ended).toEqual([1, null])
  expect(log().match(/"msg":"request completed"/g)).toHaveLength(answered)
  expect(log()).toContain('"message":"the crash of the test"')
})
