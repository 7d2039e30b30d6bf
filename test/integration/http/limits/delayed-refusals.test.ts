/** The body of a request whose refusal is sent late is read meanwhile: otherwise it would not arrive in time. */
import { expect, test } from '@jest/globals'
import { once } from 'node:events'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createQueryQueue } from '../../../../src/http/query/queue/query-queue.js'
import { CALLER, KEY, startApp, type Given } from '../harness.js'
import { parseAnswers } from '../raw.js'

/** More refusals than are sent at once in a second. */
const MANY = 20
/** More than fits into the buffers of a connection. */
const BODY = Buffer.alloc(16 * 1024 * 1024, ' ')
const HEAD = `POST /v1/analytics/query HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n`

const FULL = createQueryQueue({ perKey: 1, inAll: 0, waiting: 0, timeoutMs: 1_000 })

test.each<[string, Given, number]>([
  ['before all other work', { recall: () => CALLER, queue: FULL }, 503],
  ['by the limit of the minute', { rateLimit: 1 }, 429],
])('of a request that is refused %s', async (_when, given, status) => {
  const app = await startApp(given)
  // Refusals are counted by the second.
  await sleep(1_000 - (performance.now() % 1_000))
  const others = Array.from({ length: MANY }, () => app.get('/v1/project'))
  await Promise.race(others)
  const order: string[] = []
  const socket = net.connect(app.port, '127.0.0.1')
  socket.write(HEAD)
  socket.write(BODY, () => order.push('sent'))
  const [answer] = (await once(socket.setEncoding('latin1'), 'data')) as [string]
  order.push('refused')
  expect([parseAnswers(answer)[0]?.status, order]).toEqual([status, ['sent', 'refused']])
  socket.destroy()
  await Promise.all(others)
  await app.stop()
})
