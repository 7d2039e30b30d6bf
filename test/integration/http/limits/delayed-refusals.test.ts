/** The body of a request whose refusal is sent late is read meanwhile: otherwise it would not arrive in time. */
import { expect, test } from '@jest/globals'
import { once } from 'node:events'
import net from 'node:net'
import { createQueryQueue } from '../../../../src/http/query/queue/query-queue.js'
import { until } from '../../../support/until.js'
import { CALLER, KEY, startApp, type Given } from '../harness.js'
import { parseAnswers } from '../raw.js'

/** More than fits into the buffers of a connection. */
const BODY = Buffer.alloc(16 * 1024 * 1024, ' ')
const HEAD = `POST /v1/analytics/query HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n`

const FULL = createQueryQueue({ perKey: 1, inAll: 0, waiting: 0, timeoutMs: 1_000 })

test.each<[string, Given, number]>([
  ['before all other work', { recall: () => CALLER, queue: FULL }, 503],
  ['by the limit of the minute', { rateLimit: 1 }, 429],
])('of a request that is refused %s', async (_when, given, status) => {
  const refusals: (() => void)[] = []
  const app = await startApp({ ...given, pace: (_keyId, refuse) => void refusals.push(refuse) })
  // The first request is within the limit of the minute.
  if (status === 429) await app.get('/v1/project')
  const socket = net.connect(app.port, '127.0.0.1')
  socket.write(HEAD)
  await new Promise((sent) => socket.write(BODY, sent))
  await until(() => refusals.length > 0)
  const answered = once(socket.setEncoding('latin1'), 'data')
  refusals[0]!()
  const [answer] = (await answered) as [string]
  expect(parseAnswers(answer)[0]?.status).toBe(status)
  socket.destroy()
  await app.stop()
})
