/** Clients that are slow or disconnect do not bind resources. */
import { once } from 'node:events'
import net from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { createQueryQueue } from '../../../src/http/query/queue/query-queue.js'
import { scaled } from '../../support/effort.js'
import { until } from '../../support/until.js'
import { KEY, startApp } from './harness.js'
import { parseAnswers } from './raw.js'

const HEAD = `POST /v1/analytics/query HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\n`

/** Reads until the server closes the connection. */
async function listenTo(socket: net.Socket): Promise<string> {
  let text = ''
  socket.setEncoding('latin1').on('data', (data: string) => (text += data))
  await new Promise((resolve) => socket.on('error', resolve).on('close', resolve))
  return text
}

test('a connection without a request is closed without a response, which its next request could meet', async () => {
  const app = await startApp({ timeouts: { headers: 300, request: 600 } })
  expect(await listenTo(net.connect(app.port, '127.0.0.1'))).toBe('')
  await app.stop()
})

test('a request that arrived while the service was busy is answered, however late it is read', async () => {
  const headers = 2_000
  const app = await startApp({ timeouts: { headers, request: headers } })
  const socket = net.connect(app.port, '127.0.0.1')
  await once(socket, 'connect')
  // The service accepts the connection.
  for (let turn = 0; turn < 3; turn++) await nextTurn()
  socket.write('GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  const end = performance.now() + 1.5 * headers
  while (performance.now() < end);
  expect(await listenTo(socket)).toMatch(/^HTTP\/1\.1 200 /)
  await app.stop()
})

test.each([
  ['stops within the headers', 'GET /v1/project HTTP/1.1\r\nHost: a\r\n'],
  ['stops within the body', `${HEAD}Content-Length: 22\r\n\r\n{"date`],
])('VALIDATION_ERROR: a client that %s gets an error and is disconnected', async (_what, bytes) => {
  const app = await startApp({ timeouts: { headers: 300, request: 600 } })
  const socket = net.connect(app.port, '127.0.0.1')
  socket.write(bytes)
  const [answer] = parseAnswers(await listenTo(socket))
  expect(answer?.status).toBe(400)
  expect(JSON.parse(answer!.body)).toEqual({
    error: {
      code: 'VALIDATION_ERROR',
      message: 'The request did not arrive in time.',
      docs: '/docs/errors#validation_error',
    },
  })
  await app.stop()
})

test('connections beyond the limit are closed at once, and accepted again when others end', async () => {
  const app = await startApp({ maxConnections: 2 })
  const connect = (header = 'Connection: close'): net.Socket => {
    const socket = net.connect(app.port, '127.0.0.1')
    socket.write(`GET /livez HTTP/1.1\r\nHost: a\r\n${header}\r\n\r\n`)
    return socket
  }
  const idle = [connect('Connection: keep-alive'), connect('Connection: keep-alive')]
  for (const socket of idle) await once(socket, 'data')
  expect(await listenTo(connect())).toBe('')
  for (const socket of idle) socket.destroy()
  // fetch would wait forever on a connection that is closed before its request is sent.
  await until(async () => (await listenTo(connect())).startsWith('HTTP/1.1 200'))
  await app.stop()
})

test('500 clients that send single bytes do not keep others from being answered', async () => {
  const app = await startApp({ timeouts: { headers: 600_000, request: 600_000 } })
  const sockets = Array.from({ length: 500 }, () => net.connect(app.port, '127.0.0.1'))
  for (const socket of sockets) socket.on('error', () => undefined).write('GET / HTTP/1.1\r\nX-')
  for (let i = 0; i < 50; i++) {
    for (const socket of sockets.slice(i * 10, i * 10 + 10)) socket.write('a')
    expect((await app.get('/v1/project')).status).toBe(200)
  }
  expect(sockets.filter(({ destroyed }) => destroyed)).toEqual([])
  for (const socket of sockets) socket.destroy()
  await app.stop()
})

test('a client that does not read its response is disconnected', async () => {
  const rows = Array.from({ length: 1_000 }, (_, i) => ({
    group_key: `/${i}/${'x'.repeat(20_000)}`,
    metric_users: i,
  }))
  let isOver = false
  const app = await startApp({
    readRows: () => Promise.resolve(rows),
    timeouts: { stall: 300 },
    observer: { onRequestStart: () => undefined, onRequestEnd: () => void (isOver = true) },
  })
  const socket = net.connect(app.port, '127.0.0.1')
  const begun = new Promise((resolve) => socket.once('readable', resolve))
  const ended = new Promise((resolve) => socket.on('error', resolve).on('close', resolve))
  const asked = JSON.stringify({
    date_range: 'today',
    metrics: ['users'],
    group_by: ['page:path'],
    limit: rows.length,
  })
  socket.write(`${HEAD}Content-Length: ${asked.length}\r\n\r\n${asked}`)
  // The client takes the beginning, and no more.
  await begun
  await until(() => isOver)
  expect(String(socket.read())).toMatch(/^HTTP\/1\.1 200 /)
  socket.resume()
  await ended
  expect(socket.bytesRead).toBeLessThan(20_000_000)
  await app.stop()
})

const CROWDS = scaled(2)

test(`${CROWDS * 100} clients that disconnect early leave no query running`, async () => {
  let running = 0
  const app = await startApp({
    queue: createQueryQueue({ perKey: 1_000, inAll: 1_000, waiting: 0, timeoutMs: 60_000 }),
    readRows: ({ signal }) => {
      running += 1
      return sleep(60_000, [], { signal }).finally(() => (running -= 1))
    },
  })
  const ask = (): net.Socket => {
    const socket = net.connect(app.port, '127.0.0.1').on('error', () => undefined)
    socket.write(`${HEAD}Content-Length: 22\r\n\r\n{"date_range":"today"}`)
    return socket
  }
  const askAndLeave = async (delay: number): Promise<void> => {
    const socket = ask()
    await sleep(delay)
    socket.destroy()
  }
  for (let i = 0; i < CROWDS; i++) {
    // Half of them leave at some moment, and the others when their queries run.
    const patient = Array.from({ length: 50 }, ask)
    await Promise.all(Array.from({ length: 50 }, (_, j) => askAndLeave((i * 50 + j) % 70)))
    await until(() => running >= patient.length)
    for (const socket of patient) socket.destroy()
  }
  // The last of them were accepted before this request.
  expect((await app.get('/v1/project')).status).toBe(200)
  await until(() => running === 0)
  await app.stop()
})
