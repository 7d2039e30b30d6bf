/** An engine is restarted when it ends, again and again, and survives hostile clients. */
import { expect, test } from '@jest/globals'
import type { ClickHouseClient } from '@clickhouse/client'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EngineEvent } from '../../../../src/clickhouse/embedded/engine.js'
import { isAlive } from '../../../../src/clickhouse/embedded/engine-dir.js'
import { aClient, aDataDir, anEngine, answering, gone } from './support.js'
import { scaled } from '../../../support/effort.js'
import { until } from '../../../support/until.js'

const KILLS = scaled(5)
const BATCH = 50
const RESETS = 2_000

test(`killed ${KILLS} times under load, it is back each time with every acknowledged row`, async () => {
  const engine = await anEngine(await aDataDir())
  const { endpoint } = engine
  const writer = aClient(endpoint, 'writer')
  const reader = aClient(endpoint, 'writer')
  await writer.command({
    query: 'CREATE TABLE b (batch UInt32, n UInt8) ENGINE = MergeTree ORDER BY batch',
  })

  const acknowledged: number[] = []
  const load = { isOn: true, batch: 0, reads: 0 }
  const whileOn = async (step: () => Promise<void>): Promise<void> => {
    while (load.isOn) await step().catch(() => sleep(20))
  }
  const insert = (async_insert: 0 | 1) => async (): Promise<void> => {
    const batch = ++load.batch
    await writer.insert({
      table: 'b',
      format: 'JSONEachRow',
      values: Array.from({ length: BATCH }, (_, n) => ({ batch, n })),
      clickhouse_settings: { async_insert, wait_for_async_insert: 1 },
    })
    acknowledged.push(batch)
  }
  const read = async (): Promise<void> => {
    await rows(reader, 'SELECT uniqExact(batch), count() FROM b')
    load.reads += 1
  }
  const loops = [insert(0), insert(0), insert(1), insert(1), read, read].map(whileOn)

  const pids: number[] = []
  try {
    while (pids.length < KILLS) {
      const [inserts, reads] = [acknowledged.length, load.reads]
      await until(() => acknowledged.length > inserts && load.reads > reads)
      await sleep(Math.random() * 100)
      const { pid } = engine
      pids.push(pid)
      process.kill(pid, 'SIGKILL')
      await gone(pid)
      await answering(reader)
    }
  } finally {
    load.isOn = false
    await Promise.all(loops)
  }

  expect(new Set(pids).size).toBe(KILLS)
  const stored = await rows(reader, 'SELECT batch, count() AS size FROM b GROUP BY batch')
  expect(stored.filter(({ size }) => size !== BATCH)).toEqual([])
  const kept = new Set(stored.map(({ batch }) => batch))
  expect(acknowledged.filter((batch) => !kept.has(batch))).toEqual([])
})

test('it is back after a kill during its start', async () => {
  const events: EngineEvent[] = []
  const engine = await anEngine(await aDataDir(), events)
  const reader = aClient(engine.endpoint, 'reader')
  for (const delay of [0, 50, 100]) {
    const first = engine.pid
    process.kill(first, 'SIGKILL')
    await until(() => engine.pid !== first)
    await sleep(delay)
    process.kill(engine.pid, 'SIGKILL')
    await answering(reader)
  }
  expect(events.filter(({ kind }) => kind === 'gave up')).toEqual([])
})

test('stopped while it restarts, it does not come back', async () => {
  const engine = await anEngine(await aDataDir())
  const first = engine.pid
  process.kill(first, 'SIGKILL')
  await until(() => engine.pid !== first)
  await engine.stop()
  expect(isAlive(engine.pid)).toBe(false)
})

test('2,000 connections that are reset while they send headers do not end it', async () => {
  const events: EngineEvent[] = []
  const engine = await anEngine(await aDataDir(), events)
  const { pid, endpoint } = engine
  const port = Number(new URL(endpoint.url).port)
  let left = RESETS
  const resetSome = async (): Promise<void> => {
    while (left-- > 0) await reset(port)
  }
  await Promise.all(Array.from({ length: 20 }, resetSome))
  expect(await aClient(endpoint, 'reader').ping({ select: true })).toEqual({ success: true })
  expect(engine.pid).toBe(pid)
  expect(events.map(({ kind }) => kind)).toEqual(['started'])
})

function reset(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1')
    socket.on('error', reject)
    socket.on('close', () => resolve())
    socket.on('connect', () =>
      socket.write('POST /?query=SELECT HTTP/1.1\r\nHost: x\r\nX-Click', () =>
        socket.resetAndDestroy(),
      ),
    )
  })
}

type Row = Readonly<Record<string, number>>

async function rows(client: ClickHouseClient, query: string): Promise<Row[]> {
  const answer = await client.query({
    query,
    format: 'JSONEachRow',
    clickhouse_settings: { output_format_json_quote_64bit_integers: 0 },
  })
  return answer.json()
}
