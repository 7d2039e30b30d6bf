/** `tallyhouse serve` as a process: it is ready once it listens, reports errors in one line, and stops cleanly. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { readEngineFile } from '../../../src/clickhouse/embedded/engine-file.js'
import { getEngineDir } from '../../../src/clickhouse/embedded/engine-dir.js'
import { connectStore } from '../../../src/clickhouse/store.js'
import { insertBatch } from '../../../src/ingest/inbox/batches.js'
import { packagePath } from '../../../src/lib/package-path.js'
import { findFirstEventTime } from '../../../src/projects/event-times.js'
import { ofThisRun, shortTest } from '../../support/sampling.js'
import { ARRIVAL, newProject } from '../../support/world/world.js'

let dataDir: string
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-serve-'))
})
afterAll(() => rm(dataDir, { recursive: true, force: true }))

interface Run {
  readonly child: ChildProcess
  readonly stderr: Promise<string>
  readonly exit: Promise<number | null>
}

/** @param intruder a module that is loaded before the service */
function serve(env: NodeJS.ProcessEnv = {}, intruder = '', options: readonly string[] = []): Run {
  const modules = ['--import', `data:text/javascript,${intruder}`]
  const args = [...modules, packagePath('dist/cli.js'), 'serve', ...options]
  const child = spawn(process.execPath, args, {
    cwd: packagePath('.'),
    env: { PATH: process.env['PATH'], DATA_DIR: dataDir, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exit = once(child, 'exit').then(([code]) => code as number | null)
  return { child, stderr: text(child.stderr), exit }
}

/** Starts a service and waits until it listens. */
async function startServing(
  ...options: readonly string[]
): Promise<Run & { readonly address: string }> {
  const run = serve({}, '', options)
  const address = await new Promise<string>((resolve, reject) => {
    let log = ''
    run.child.stdout!.on('data', (data: Buffer) => {
      log += data.toString()
      const found = /"address":"([^"]+)"/.exec(log)?.[1]
      if (found !== undefined) resolve(found)
    })
    void run.exit.then(async () => reject(new Error(`${log}\n${await run.stderr}`)))
  })
  return { ...run, address }
}

/** Whether a process exists. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

test.each(ofThisRun(SIGNALS, 3))(
  'it is ready when it listens, and ends with 0 on %s, its engine too',
  async (signal) => {
    const { child, address, exit, stderr } = await startServing()
    for (const path of ['/openapi.json', '/readyz']) {
      expect((await fetch(address + path)).status).toBe(200)
    }
    const engine = await readEngineFile(getEngineDir(dataDir))
    const begun = performance.now()
    child.kill(signal)
    expect(await exit).toBe(0)
    expect(performance.now() - begun).toBeLessThan(10_000)
    expect(await stderr).toBe('')
    expect(isAlive(engine!.enginePid)).toBe(false)
    await expect(fetch(address)).rejects.toThrow()
  },
)

shortTest('a second signal ends it at once', async () => {
  const { child, exit, address } = await startServing()
  // A request that does not end delays the stop.
  const socket = net.connect(Number(new URL(address).port), '127.0.0.1')
  socket.on('error', () => undefined).write('GET /livez HTTP/1.1\r\n')
  child.kill('SIGTERM')
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  const begun = performance.now()
  child.kill('SIGTERM')
  expect(await exit).toBe(143)
  expect(performance.now() - begun).toBeLessThan(1_000)
  socket.destroy()
})

shortTest('a busy port is reported in one line, and no engine is started', async () => {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as net.AddressInfo
  const { exit, stderr } = serve({ PORT: String(port), DATA_DIR: path.join(dataDir, 'unused') })
  expect(await exit).toBe(1)
  expect(await stderr).toBe(
    `tallyhouse: the address 127.0.0.1:${port} is in use by another process\n`,
  )
  expect(existsSync(path.join(dataDir, 'unused'))).toBe(false)
  server.close()
})

shortTest('a collector works beside the service, on its engine', async () => {
  const first = await startServing('--role', 'api')
  const announced = await readEngineFile(getEngineDir(dataDir))
  const collector = await startServing('--role', 'collector')
  expect(await readEngineFile(getEngineDir(dataDir))).toEqual(announced)
  const store = connectStore(announced!.endpoint)
  const { token } = await newProject(store)
  await store.close()
  const send = ({ address }: { address: string }): Promise<Response> =>
    fetch(`${address}/v1/events`, { method: 'POST', body: JSON.stringify({ token }) })
  expect((await send(collector)).status).toBe(202)
  expect((await send(first)).status).toBe(404)
  expect((await fetch(`${collector.address}/v1/project`)).status).toBe(404)
  collector.child.kill('SIGTERM')
  expect(await collector.exit).toBe(0)
  expect((await fetch(`${first.address}/readyz`)).status).toBe(200)
  first.child.kill('SIGTERM')
  expect(await first.exit).toBe(0)
})

shortTest('an unknown role is reported in one line', async () => {
  const { exit, stderr } = serve({}, '', ['--role', 'x'])
  expect(await exit).toBe(2)
  expect(await stderr).toMatch(/^tallyhouse: .*'x' is invalid. Allowed choices are .+\n$/)
})

shortTest(
  'a second service on the folder exits with one line, and the first keeps running',
  async () => {
    const first = await startServing()
    const second = serve()
    expect(await second.exit).toBe(1)
    expect(await second.stderr).toMatch(/^tallyhouse: the data folder .+ is in use by .+\n$/)
    expect((await fetch(`${first.address}/readyz`)).status).toBe(200)
    first.child.kill('SIGTERM')
    expect(await first.exit).toBe(0)
  },
)

shortTest('an engine that ends is restarted; until then the service is not ready', async () => {
  const { child, address, exit } = await startServing()
  const { enginePid } = (await readEngineFile(getEngineDir(dataDir)))!
  process.kill(enginePid, 'SIGKILL')
  const statuses = new Set<number>()
  for (const until = performance.now() + 15_000; performance.now() < until;) {
    statuses.add((await fetch(`${address}/readyz`)).status)
    expect((await fetch(`${address}/livez`)).status).toBe(200)
    const now = await readEngineFile(getEngineDir(dataDir))
    if (now !== undefined && now.enginePid !== enginePid && isAlive(now.enginePid)) break
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  await new Promise((resolve) => setTimeout(resolve, 2_500))
  expect((await fetch(`${address}/readyz`)).status).toBe(200)
  child.kill('SIGTERM')
  expect(await exit).toBe(0)
})

const FAILURES = [
  ['an exception that nobody catches', 'setTimeout(() => { throw new Error("boom") }, 4000)'],
  ['a rejection that nobody handles', 'setTimeout(() => Promise.reject(new Error("boom")), 4000)'],
] as const

test.each(ofThisRun(FAILURES, 2))(
  '%s stops the service and its engine, with exit code 1',
  async (_what, intruder) => {
    const { exit, stderr } = serve({}, intruder)
    expect(await exit).toBe(1)
    expect(await stderr).toBe('tallyhouse: boom\n')
    expect(await readEngineFile(getEngineDir(dataDir))).toBeUndefined()
  },
)

shortTest('an invalid variable is reported in one line', async () => {
  const { exit, stderr } = serve({ PORT: 'x' })
  expect(await exit).toBe(1)
  expect(await stderr).toMatch(/^tallyhouse: PORT must be .+\n$/)
})

shortTest('what an import left in the inbox is loaded without another import', async () => {
  const { child, exit } = await startServing()
  const store = connectStore((await readEngineFile(getEngineDir(dataDir)))!.endpoint)
  const project = await newProject(store)
  await insertBatch(store.writer, {
    now: ARRIVAL,
    batch: 'left',
    strict: false,
    projectId: project.id,
    firstRow: 1,
    bytes: Buffer.from('{"timestamp":"2026-01-10T10:00:00.123Z","user_id":"a"}'),
  })
  await store.close()
  child.kill()
  await exit

  const again = await startServing()
  const after = connectStore((await readEngineFile(getEngineDir(dataDir)))!.endpoint)
  for (let i = 0; i < 200 && (await findFirstEventTime(after.reader, project.id)) === null; i++) {
    await sleep(100)
  }
  expect(await findFirstEventTime(after.reader, project.id)).toEqual(
    new Date('2026-01-10T10:00:00.123Z'),
  )
  await after.close()
  again.child.kill()
  expect(await again.exit).toBe(0)
})
