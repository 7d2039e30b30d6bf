/** Exports whose clients do not read: what they take from other projects, by a clock that the test sets. */
import { expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Statement } from '../../../src/clickhouse/sql.js'
import { EXPORTS } from '../../../src/bootstrap/serving/read-api.js'
import { createQueryQueue, type PlaceLimits } from '../../../src/http/query/queue/query-queue.js'
import { CALLER, startApp, type Running } from './harness.js'

/** More than the buffers of a connection hold. */
const BATCHES = 400
const ROWS = Array.from({ length: 1_000 }, () => ({ moment: 0, path: `/${'p'.repeat(100)}` }))

/** Streams a row for `small`, and for other projects more than a client gets without reading. */
async function* streamRows({ project: { id, createdAt } }: Running, { query }: Statement) {
  if (query.startsWith('SELECT start, events')) {
    yield await Promise.resolve([{ start: createdAt.getTime(), events: 1 }])
  } else if (id === 'small') yield await Promise.resolve(ROWS.slice(0, 1))
  else for (let i = 0; i < BATCHES; i += 1) yield await Promise.resolve(ROWS)
}

/** Starts an application in which a key `project/…` is one of a project. */
async function startExporting(limits: PlaceLimits) {
  const clock = { ms: 0 }
  const exports = createQueryQueue({ ...limits, timeoutMs: 300_000 }, () => clock.ms)
  const app = await startApp({
    authenticate: (header = '') => {
      const keyId = header.replace('Bearer ', '')
      const projectId = keyId.split('/')[0] ?? ''
      const project = { ...CALLER.project, id: projectId }
      return Promise.resolve({ ...CALLER, principal: { keyId, projectId }, project })
    },
    streamRows,
    exports,
  })
  const ask = (key: string): Promise<Response> =>
    app.get('/v1/events/export', {
      method: 'POST',
      body: JSON.stringify({ date_range: 'all', fields: ['timestamp', 'path'] }),
      headers: {
        Authorization: `Bearer ${key}`,
        'Content-Type': 'application/json',
        Accept: 'application/x-ndjson',
      },
    })
  return { app, ask, clock }
}

const countLines = (text: string): number => text.split('\n').length - 1

test('two clients of one project that do not read leave other projects their places', async () => {
  const { app, ask } = await startExporting(EXPORTS)
  const slow = await Promise.all([ask('large/1'), ask('large/2')])
  expect(slow.map(({ status }) => status)).toEqual([200, 200])
  const other = await ask('small/1')
  expect([other.status, countLines(await other.text())]).toEqual([200, 1])
  for (const { body } of slow) await body?.cancel()
  await app.stop()
})

test('a client that does not read loses its place to one that waits; its response breaks off', async () => {
  const { app, ask, clock } = await startExporting({ ...EXPORTS, inAll: 1 })
  const slow = await ask('large/1')
  const answered = new AbortController()
  const other = ask('small/1').finally(() => answered.abort())
  while (!answered.signal.aborted) {
    clock.ms += 1_000
    await sleep(50)
  }
  expect(countLines(await (await other).text())).toBe(1)
  await expect(slow.text()).rejects.toThrow('terminated')
  await app.stop()
})
