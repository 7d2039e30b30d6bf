/** `tallyhouse serve` as a process: it is ready once it listens, reports errors in one line, and stops cleanly. */
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { readEngineFile } from '../../../src/clickhouse/embedded/engine-file.js'
import { getEngineDir } from '../../../src/clickhouse/embedded/engine-dir.js'
import { connectStore } from '../../../src/clickhouse/store.js'
import { insertBatch } from '../../../src/ingest/inbox/batches.js'
import { findFirstEventTime } from '../../../src/projects/event-times.js'
import { startServe, type ServeProcess } from '../../support/cli/serve.js'
import { sample } from '../../support/effort.js'
import { until } from '../../support/until.js'
import { ARRIVAL, newProject } from '../../support/world/world.js'

let dataDir: string
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-serve-'))
})
afterAll(() => rm(dataDir, { recursive: true, force: true }))

const serve = (env: NodeJS.ProcessEnv = {}, intruder = '', ...options: readonly string[]) =>
  startServe({ DATA_DIR: dataDir, ...env }, options, intruder)

/** Starts a service and waits until it listens. */
async function startServing(
  ...options: readonly string[]
): Promise<ServeProcess & { readonly address: string }> {
  const run = serve({}, '', ...options)
  return { ...run, address: await run.listening() }
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

test.each(sample(SIGNALS, 3))(
  'it is ready when it listens, and ends with 0 on %s, its engine too',
  async (signal) => {
    const { child, address, exit, stderr } = await startServing()
    for (const path of ['/openapi.json', '/readyz']) {
      expect((await fetch(address + path)).status).toBe(200)
    }
    const engine = await readEngineFile(getEngineDir(dataDir))
    child.kill(signal)
    expect(await exit).toBe(0)
    expect(await stderr).toBe('')
    expect(isAlive(engine!.enginePid)).toBe(false)
    await expect(fetch(address)).rejects.toThrow()
  },
)

test('a second signal ends it at once', async () => {
  const { child, exit, listening, logged } = serve()
  // A request that does not end delays the stop.
  const socket = net.connect(Number(new URL(await listening()).port), '127.0.0.1')
  socket.on('error', () => undefined).write('GET /livez HTTP/1.1\r\n')
  child.kill('SIGTERM')
  await logged(/"signal":"SIGTERM".*"stopping"/)
  child.kill('SIGTERM')
  // After a stop to its end, it would be 0.
  expect(await exit).toBe(143)
  socket.destroy()
})

test('a busy port is reported in one line, and no engine is started', async () => {
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

test('a collector works beside the service, on its engine', async () => {
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

test('an unknown role is reported in one line', async () => {
  const { exit, stderr } = serve({}, '', '--role', 'x')
  expect(await exit).toBe(2)
  expect(await stderr).toMatch(/^tallyhouse: .*'x' is invalid. Allowed choices are .+\n$/)
})

test('a second service on the folder exits with one line, and the first keeps running', async () => {
  const first = await startServing()
  const second = serve()
  expect(await second.exit).toBe(1)
  expect(await second.stderr).toMatch(/^tallyhouse: the data folder .+ is in use by .+\n$/)
  expect((await fetch(`${first.address}/readyz`)).status).toBe(200)
  first.child.kill('SIGTERM')
  expect(await first.exit).toBe(0)
})

test('an engine that ends is restarted; until then the service is not ready', async () => {
  const { child, address, exit } = await startServing()
  const { enginePid } = (await readEngineFile(getEngineDir(dataDir)))!
  process.kill(enginePid, 'SIGKILL')
  await until(async () => {
    expect((await fetch(`${address}/livez`)).status).toBe(200)
    const now = await readEngineFile(getEngineDir(dataDir))
    return now !== undefined && now.enginePid !== enginePid && isAlive(now.enginePid)
  })
  await until(async () => (await fetch(`${address}/readyz`)).status === 200)
  child.kill('SIGTERM')
  expect(await exit).toBe(0)
})

const FAILURES = [
  ['an exception that nobody catches', 'throw new Error("boom")'],
  ['a rejection that nobody handles', 'Promise.reject(new Error("boom"))'],
] as const

test.each(sample(FAILURES, 2))(
  '%s stops the service and its engine, with exit code 1',
  async (_what, failure) => {
    const { child, exit, stderr, listening } = serve(
      {},
      `process.on("SIGUSR2", () => { ${failure} })`,
    )
    await listening()
    child.kill('SIGUSR2')
    expect(await exit).toBe(1)
    expect(await stderr).toBe('tallyhouse: boom\n')
    expect(await readEngineFile(getEngineDir(dataDir))).toBeUndefined()
  },
)

test('an invalid variable is reported in one line', async () => {
  const { exit, stderr } = serve({ PORT: 'x' })
  expect(await exit).toBe(1)
  expect(await stderr).toMatch(/^tallyhouse: PORT must be .+\n$/)
})

test('what an import left in the inbox is loaded without another import', async () => {
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
  await until(async () => (await findFirstEventTime(after.reader, project.id)) !== null)
  expect(await findFirstEventTime(after.reader, project.id)).toEqual(
    new Date('2026-01-10T10:00:00.123Z'),
  )
  await after.close()
  again.child.kill()
  expect(await again.exit).toBe(0)
})
