/** The life of an engine: it starts, is found by other processes, refuses a second engine, and stops without traces. */
import { expect, test } from '@jest/globals'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  DataDirInUseError,
  findEngine,
  startEngine,
  type Engine,
  type EngineEvent,
} from '../../../../src/clickhouse/embedded/engine.js'
import { isAlive } from '../../../../src/clickhouse/embedded/engine-dir.js'
import { until } from '../../../support/until.js'
import { aClient, aDataDir, anEngine, anotherProcess, answering, gone } from './support.js'

test('keeps its data after a stop and a start, and has new passwords', async () => {
  const dataDir = await aDataDir()
  const first = await anEngine(dataDir)
  const writer = aClient(first.endpoint, 'writer')
  await writer.command({ query: 'CREATE TABLE kept (n UInt8) ENGINE = MergeTree ORDER BY n' })
  await writer.command({ query: 'INSERT INTO kept VALUES (7)' })
  await writer.close()
  await first.stop()

  const second = await anEngine(dataDir)
  const answer = await aClient(second.endpoint, 'writer').query({
    query: 'SELECT n FROM kept',
    format: 'JSONEachRow',
  })
  expect(await answer.json()).toEqual([{ n: 7 }])
  expect(second.endpoint.accounts.reader.password).not.toBe(first.endpoint.accounts.reader.password)
})

test('stops cleanly, and leaves neither a process nor an engine file', async () => {
  const dataDir = await aDataDir()
  const events: EngineEvent[] = []
  const engine = await anEngine(dataDir, events)
  const { pid } = engine
  await Promise.all([engine.stop(), engine.stop()])
  expect(isAlive(pid)).toBe(false)
  expect(await readdir(path.join(dataDir, 'clickhouse'))).not.toContain('engine.json')
  expect(await findEngine(dataDir)).toBeUndefined()
  expect(events.map(({ kind }) => kind)).toEqual(['started', 'stopped'])
})

test('stops although a query runs and connections are open', async () => {
  const engine = await anEngine(await aDataDir())
  const [reader, admin] = [aClient(engine.endpoint, 'reader'), aClient(engine.endpoint, 'admin')]
  await reader.ping({ select: true })
  const query_id = 'an-endless-query'
  const running = reader
    .query({ query: 'SELECT sum(sipHash64(number)) FROM numbers(1000000000000)', query_id })
    .then(
      () => 'answered',
      () => 'ended',
    )
  const query = `SELECT 1 FROM system.processes WHERE query_id = '${query_id}'`
  await until(async () => (await admin.query({ query })).json().then(({ data }) => data.length > 0))
  await engine.stop()
  expect(await running).toBe('ended')
})

test('stops an engine that hangs', async () => {
  const engine = await anEngine(await aDataDir())
  const { pid } = engine
  process.kill(pid, 'SIGSTOP')
  await engine.stop()
  expect(isAlive(pid)).toBe(false)
})

test('refuses a second engine on the folder, with one line that names the holder', async () => {
  const dataDir = await aDataDir()
  const engine = await anEngine(dataDir)
  const refusal = await startEngine({ dataDir, purpose: 'in vain' }).catch(
    (error: unknown) => error,
  )
  expect(refusal).toBeInstanceOf(DataDirInUseError)
  expect((refusal as Error).message).toBe(
    `the data folder ${dataDir} is in use by process ${process.pid} (a test)`,
  )
  const other = await anotherProcess('start', dataDir)
  expect(other.said).toEqual({ refused: (refusal as Error).message })
  expect(await aClient(engine.endpoint, 'reader').ping({ select: true })).toEqual({ success: true })
})

test('refuses a second engine also while the first is restarting', async () => {
  const dataDir = await aDataDir()
  const engine = await anEngine(dataDir)
  process.kill(engine.pid, 'SIGKILL')
  const attempts = [0, 10, 30, 60, 100, 150, 200].map(async (delay) => {
    await sleep(delay)
    return startEngine({ dataDir, purpose: 'in vain' }).catch((error: unknown) => error)
  })
  for (const refusal of await Promise.all(attempts)) {
    expect((refusal as Error).message).toContain(`in use by process ${process.pid} (a test)`)
  }
  await answering(aClient(engine.endpoint, 'reader'))
})

test('of many concurrent starts one succeeds, and its accounts work', async () => {
  const dataDir = await aDataDir()
  const starts = Array.from({ length: 6 }, () =>
    startEngine({ dataDir, purpose: 'a race' }).catch((error: unknown) => error as Error),
  )
  const outcomes = await Promise.all(starts)
  const isEngine = (outcome: Engine | Error): outcome is Engine => !(outcome instanceof Error)
  const [winner, ...others] = outcomes.filter(isEngine)
  const losers = outcomes.filter((outcome) => !isEngine(outcome))
  try {
    expect(others).toEqual([])
    for (const loser of losers) expect(loser).toBeInstanceOf(DataDirInUseError)
    expect(await findEngine(dataDir)).toEqual(winner?.endpoint)
  } finally {
    await winner?.stop()
  }
})

test('is found from another process, also while it is restarting', async () => {
  const dataDir = await aDataDir()
  const engine = await anEngine(dataDir)
  const other = await anotherProcess('find', dataDir)
  expect(other.said).toEqual(engine.endpoint)
  process.kill(engine.pid, 'SIGKILL')
  await gone(engine.pid)
  expect(await findEngine(dataDir)).toEqual(engine.endpoint)
})

test.each([
  { why: 'there is no engine file', text: undefined },
  { why: 'the engine file is not valid JSON', text: '{' },
  {
    why: 'the process in the engine file is dead',
    text: JSON.stringify({ holder: { pid: 2 ** 30, purpose: '' } }),
  },
])('finds no engine if $why', async ({ text }) => {
  const dataDir = await aDataDir()
  await (await anEngine(dataDir)).stop()
  if (text !== undefined) await writeFile(path.join(dataDir, 'clickhouse', 'engine.json'), text)
  expect(await findEngine(dataDir)).toBeUndefined()
})

test('only this user can read its files, and the list of processes has no passwords', async () => {
  const dataDir = await aDataDir()
  const { endpoint, pid } = await anEngine(dataDir)
  for (const file of ['cmdline', 'environ']) {
    const text = await readFile(`/proc/${pid}/${file}`, 'utf8')
    for (const { password } of Object.values(endpoint.accounts))
      expect(text).not.toContain(password)
  }
  const home = path.join(dataDir, 'clickhouse')
  const mode = async (file: string): Promise<number> =>
    (await stat(path.join(home, file))).mode & 0o777
  expect(await mode('.')).toBe(0o700)
  for (const file of ['engine.json', 'config.xml', 'users.xml', 'lock']) {
    expect([file, await mode(file)]).toEqual([file, 0o600])
  }
})

test('ends when its parent is killed, and lets the next one start', async () => {
  const dataDir = await aDataDir()
  const { child, said } = await anotherProcess('start', dataDir)
  const { enginePid } = said as { enginePid: number }
  child.kill('SIGKILL')
  const next = anEngine(dataDir)
  await gone(enginePid)
  const { endpoint } = await next
  expect(await findEngine(dataDir)).toEqual(endpoint)
})
