/** The inbox writer writes the lines of many requests together, and resolves each write once its lines are stored. */
import { beforeEach, expect, test } from '@jest/globals'
import { randomBytes, randomUUID } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Connection } from '../../../src/clickhouse/connection.js'
import { StoreUnavailableError } from '../../../src/clickhouse/errors.js'
import { withLease } from '../../../src/clickhouse/lease/lease.js'
import { sql, statement, string } from '../../../src/clickhouse/sql.js'
import { ApiError } from '../../../src/contract/errors.js'
import { createInboxWriter } from '../../../src/ingest/inbox/inbox-writer.js'
import { withDatabase } from '../../support/store/database.js'
import { newProject } from '../../support/world/world.js'
import { loadWaiting } from '../../support/store/loading.js'
import { until } from '../../support/until.js'

const receivedAt = new Date('2026-03-10T12:00:00.123Z')

const database = withDatabase()
let projectId: string
beforeEach(() => {
  projectId = randomUUID()
})

const request = (...lines: readonly string[]) => ({ projectId, lines, receivedAt })

async function stored(): Promise<readonly object[]> {
  const { rows } = await database.store.writer.query<object>(
    statement(sql`
      SELECT batch, line, toString(received_at) AS at FROM inbox
      WHERE project = ${string(projectId)} ORDER BY line`),
  )
  return rows
}

/** Creates a connection with uploads that the test controls and counts. */
function through(around: (upload: () => Promise<void>, nth: number) => Promise<void>): {
  readonly connection: Connection
  readonly uploads: () => number
} {
  const { writer } = database.store
  let uploads = 0
  return {
    uploads: () => uploads,
    connection: {
      ...writer,
      upload: (...args) => around(() => writer.upload(...args), (uploads += 1)),
    },
  }
}

const randomText = (): string => randomBytes(50_000).toString('hex')

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** The bytes that are used after a garbage collection. */
function measureHeap(): number {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const reset = (): Error => new StoreUnavailableError('read ECONNRESET')
const DOWN = { code: 'SERVICE_UNAVAILABLE', headers: { 'Retry-After': '1' } }

test('lines are stored unchanged, with their project and time of arrival', async () => {
  const odd = '{"path":"\\"\\\\\\n\\u2028😀\u2028\t"}'
  await createInboxWriter(database.store.writer).write(request('{}', odd))
  const at = '2026-03-10 12:00:00.123'
  expect(await stored()).toEqual([
    { batch: '', line: odd, at },
    { batch: '', line: '{}', at },
  ])
})

test('requests that arrive during a write are written together', async () => {
  const { connection, uploads } = through((upload) => upload())
  const writer = createInboxWriter(connection)
  const many = Array.from({ length: 500 }, (_, n) => request(`{"n":${n}}`))
  await Promise.all(many.map((one) => writer.write(one)))
  expect(await stored()).toHaveLength(500)
  expect(uploads()).toBeLessThan(5)
})

test('the same lines written twice are stored twice', async () => {
  const writer = createInboxWriter(database.store.writer)
  await writer.write(request('{}'))
  await writer.write(request('{}'))
  expect(await stored()).toHaveLength(2)
})

test('an insert without a response is repeated, and each event counts once', async () => {
  const { connection, uploads } = through(async (upload, nth) => {
    await upload()
    if (nth <= 2) throw reset()
  })
  const { id } = await newProject(database.store)
  const lines = ['{"event_id":"1","user_id":"u"}', '{"event_id":"2","user_id":"u"}']
  await createInboxWriter(connection).write({ projectId: id, lines, receivedAt })
  expect(uploads()).toBe(3)
  const { writer } = database.store
  await withLease(writer, 'loader', () => loadWaiting(writer))
  const { rows } = await writer.query(
    statement(sql`SELECT count() AS events FROM events WHERE project_id = ${string(id)}`),
  )
  expect(rows).toEqual([{ events: 2 }])
})

test('writes are retried until the timeout while the store is down', async () => {
  const { connection, uploads } = through(() => Promise.reject(reset()))
  const writer = createInboxWriter(connection, { timeoutMs: 500 })
  await expect(writer.write(request('{}'))).rejects.toMatchObject(DOWN)
  expect(uploads()).toBeGreaterThan(1)
})

test('a store that never responds does not delay a write beyond the timeout', async () => {
  const { connection } = through(() => new Promise(() => undefined))
  const writer = createInboxWriter(connection, { timeoutMs: 200, intervalMs: 0, maxInserts: 1 })
  const waiting = [writer.write(request('{}')), writer.write(request('{}'))]
  const outcomes = await Promise.allSettled(waiting)
  expect(outcomes).toMatchObject([
    { status: 'rejected', reason: DOWN },
    { status: 'rejected', reason: DOWN },
  ])
})

test('writes that timed out are let go of while the store hangs', async () => {
  const { connection } = through(() => new Promise(() => undefined))
  const limits = { maxInserts: 1, maxInsertBytes: 1_000, maxPendingBytes: 2_000_000 }
  const writer = createInboxWriter(connection, { ...limits, timeoutMs: 10, intervalMs: 0 })
  const before = measureHeap()
  for (let wave = 0; wave < 60; wave++) {
    const writes = Array.from({ length: 10 }, () => writer.write(request(`"${randomText()}"`)))
    const outcomes = await Promise.allSettled(writes)
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true)
  }
  // 60 MB were sent.
  expect(measureHeap() - before).toBeLessThan(10_000_000)
})

test('an insert that hangs is aborted, and writes are accepted once the store answers', async () => {
  let isHanging = true
  const { writer: real } = database.store
  let aborted = 0
  const hang = (signal: AbortSignal | undefined): Promise<never> =>
    new Promise((_resolve, reject) => {
      signal?.addEventListener('abort', () => {
        aborted += 1
        reject(new Error('The user aborted a request.'))
      })
    })
  const connection: Connection = {
    ...real,
    upload: (statement, bytes, settings, signal) =>
      isHanging ? hang(signal) : real.upload(statement, bytes, settings, signal),
    ping: (timeoutMs) => (isHanging ? Promise.resolve(false) : real.ping(timeoutMs)),
  }
  const writer = createInboxWriter(connection, { timeoutMs: 100, maxInserts: 1 })
  await expect(writer.write(request('{"n":1}'))).rejects.toMatchObject(DOWN)
  await until(() => aborted === 1)
  // The store is asked for an answer before the next insert, so none hangs on it.
  await expect(writer.write(request('{"n":2}'))).rejects.toMatchObject(DOWN)
  isHanging = false
  // Each write may be pending for a tenth of a second only. One that was too late may still be stored.
  const write = () =>
    writer.write(request('{"n":3}')).then(
      () => true,
      () => false,
    )
  await until(write)
  expect(aborted).toBe(1)
  const lines = (await stored()).map((row) => (row as { line: string }).line)
  expect(new Set(lines)).toEqual(new Set(['{"n":3}']))
})

test('queued lines of rejected writes are not written when the store is back', async () => {
  let isBack = (): void => undefined
  const back = new Promise<void>((resolve) => (isBack = resolve))
  const { connection, uploads } = through(async (upload, nth) => {
    if (nth === 1) await back
    await upload()
  })
  const writer = createInboxWriter(connection, { timeoutMs: 3_000, maxInserts: 1 })
  const late = [writer.write(request('{"n":1}')), writer.write(request('{"n":2}'))]
  await Promise.allSettled(late)
  isBack()
  await writer.write(request('{"n":3}'))
  expect(uploads()).toBe(2)
  expect(await stored()).toMatchObject([{ line: '{"n":1}' }, { line: '{"n":3}' }])
})

test('an insert with a permanent error is not retried', async () => {
  const { connection, uploads } = through(() => Promise.reject(new Error('of no kind we know')))
  await expect(createInboxWriter(connection).write(request('{}'))).rejects.toMatchObject({
    code: 'INTERNAL_ERROR',
  })
  expect(uploads()).toBe(1)
})

test('a full queue refuses writes at once, and accepts them again when there is room', async () => {
  let isBack = (): void => undefined
  const back = new Promise<void>((resolve) => (isBack = resolve))
  const { connection } = through(async (upload) => {
    await back
    await upload()
  })
  const writer = createInboxWriter(connection, { maxPendingBytes: 1_000 })
  const first = writer.write(request(`"${'x'.repeat(800)}"`))
  let refusal: unknown
  writer.write(request(`"${'y'.repeat(800)}"`)).catch((error: unknown) => (refusal = error))
  // Nothing is waited for.
  await Promise.resolve()
  expect(refusal).toMatchObject(DOWN)
  isBack()
  await first
  await writer.write(request(`"${'z'.repeat(800)}"`))
  expect(await stored()).toHaveLength(2)
})

test('an insert does not exceed its size limit, unless a single request does', async () => {
  const { connection, uploads } = through((upload) => upload())
  const writer = createInboxWriter(connection, { maxInsertBytes: 1_000 })
  const small = Array.from({ length: 20 }, (_, n) => request(`"${String(n).padEnd(300)}"`))
  const large = request(`"${'x'.repeat(5_000)}"`)
  await Promise.all([...small, large].map((one) => writer.write(one)))
  expect(await stored()).toHaveLength(21)
  expect(uploads()).toBeGreaterThan(7)
})

test('aborting rejects all pending writes', async () => {
  const { connection } = through(() => new Promise(() => undefined))
  const writer = createInboxWriter(connection)
  const waiting = writer.write(request('{}'))
  const error = new ApiError('SERVICE_UNAVAILABLE', 'The service is stopping.')
  writer.rejectPending(error)
  await expect(waiting).rejects.toBe(error)
})
