/** Clients that are slow or disconnect do not bind resources. */
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import type { AnalyticsQueryResponse } from '../../../src/contract/api.js'
import { createQueryQueue } from '../../../src/http/query/queue/query-queue.js'
import { ANSWER, KEY, startApp } from './harness.js'
import { parseAnswers } from './raw.js'

const HEAD = `POST /v1/analytics/query HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\n`

/** Reads until the server closes the connection; returns the text and the time that took. */
async function listenTo(socket: net.Socket): Promise<{ text: string; ms: number }> {
  const begun = performance.now()
  let text = ''
  socket.setEncoding('latin1').on('data', (data: string) => (text += data))
  await new Promise((resolve) => socket.on('error', resolve).on('close', resolve))
  return { text, ms: performance.now() - begun }
}

test('a connection without a request is closed without a response, which its next request could meet', async () => {
  const app = await startApp({ timeouts: { headers: 300, request: 600 } })
  const { text, ms } = await listenTo(net.connect(app.port, '127.0.0.1'))
  expect([text, ms < 3_000]).toEqual(['', true])
  await app.stop()
})

test.each([
  ['stops within the headers', 'GET /v1/project HTTP/1.1\r\nHost: a\r\n'],
  ['stops within the body', `${HEAD}Content-Length: 22\r\n\r\n{"date`],
])('VALIDATION_ERROR: a client that %s gets an error and is disconnected', async (_what, bytes) => {
  const app = await startApp({ timeouts: { headers: 300, request: 600 } })
  const socket = net.connect(app.port, '127.0.0.1')
  socket.write(bytes)
  const { text, ms } = await listenTo(socket)
  expect(ms).toBeLessThan(3_000)
  const [answer] = parseAnswers(text)
  expect(answer?.status).toBe(400)
  expect(JSON.parse(answer!.body)).toEqual({
    error: { code: 'VALIDATION_ERROR', message: 'The request did not arrive in time.' },
  })
  await app.stop()
})

test('connections beyond the limit are closed at once, and accepted again when others end', async () => {
  const app = await startApp({ maxConnections: 2 })
  const idle = [net.connect(app.port, '127.0.0.1'), net.connect(app.port, '127.0.0.1')]
  await sleep(100)
  const { text, ms } = await listenTo(net.connect(app.port, '127.0.0.1'))
  expect([text, ms < 2_000]).toEqual(['', true])
  for (const socket of idle) socket.destroy()
  await sleep(100)
  expect((await app.get('/livez')).status).toBe(200)
  await app.stop()
})

test('500 clients that send single bytes do not delay others', async () => {
  const app = await startApp({ timeouts: { headers: 2_000 } })
  const sockets = Array.from({ length: 500 }, () => net.connect(app.port, '127.0.0.1'))
  for (const socket of sockets) socket.on('error', () => undefined).write('GET / HTTP/1.1\r\nX-')
  const begun = performance.now()
  for (let i = 0; i < 50; i++) {
    for (const socket of sockets.slice(i * 10, i * 10 + 10)) if (socket.writable) socket.write('a')
    expect((await app.get('/v1/project')).status).toBe(200)
  }
  expect((performance.now() - begun) / 50).toBeLessThan(50)
  for (const socket of sockets) socket.destroy()
  await app.stop()
})

test('a client that does not read its response is disconnected', async () => {
  const rows = Array.from({ length: 1_000 }, (_, i) => ({
    group: { 'page:path': `/${i}/${'x'.repeat(20_000)}` },
    metrics: { users: i },
  }))
  const answer: AnalyticsQueryResponse = { ...ANSWER, data: rows }
  const app = await startApp({ runQuery: () => Promise.resolve(answer), timeouts: { stall: 300 } })
  const socket = net.connect(app.port, '127.0.0.1')
  const begun = new Promise((resolve) => socket.once('readable', resolve))
  const ended = new Promise((resolve) => socket.on('error', resolve).on('close', resolve))
  socket.write(`${HEAD}Content-Length: 22\r\n\r\n{"date_range":"today"}`)
  // The client takes the beginning, and no more.
  await begun
  await sleep(2_000)
  socket.resume()
  await ended
  expect(socket.bytesRead).toBeLessThan(20_000_000)
  await app.stop()
})

test('1,000 clients that disconnect early leave no query running', async () => {
  let asked = 0
  let running = 0
  const app = await startApp({
    queue: createQueryQueue({ perKey: 1_000, inAll: 1_000, waiting: 0, timeoutMs: 60_000 }),
    runQuery: (_request, _project, { signal }) => {
      asked += 1
      running += 1
      return sleep(60_000, ANSWER, { signal }).finally(() => (running -= 1))
    },
  })
  const leave = async (delay: number): Promise<void> => {
    const socket = net.connect(app.port, '127.0.0.1').on('error', () => undefined)
    socket.write(`${HEAD}Content-Length: 22\r\n\r\n{"date_range":"today"}`)
    await sleep(delay)
    socket.destroy()
  }
  for (let i = 0; i < 10; i++) {
    await Promise.all(Array.from({ length: 100 }, (_, j) => leave((i * 100 + j) % 70)))
  }
  // The last of them may only be accepted now.
  for (let waited = 0; waited < 5_000 && (running > 0 || waited < 1_500); waited += 100)
    await sleep(100)
  expect(asked).toBeGreaterThan(100)
  expect(running).toBe(0)
  expect((await app.get('/v1/project')).status).toBe(200)
  await app.stop()
})
