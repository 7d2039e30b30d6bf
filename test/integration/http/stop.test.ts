/** A graceful stop completes responses, takes a limited time, and refuses late requests with an error. */
import { Agent, get, type IncomingMessage } from 'node:http'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { ANSWER, KEY, outcome, startApp, type RunningApp } from './harness.js'

/** Sends a request over a connection of the agent; returns its status, and whether the response closes the connection. */
function request(app: RunningApp, agent: Agent): Promise<{ status: number; closes: boolean }> {
  return new Promise((resolve, reject) => {
    get(
      `${app.url}/v1/project`,
      { agent, headers: { Authorization: `Bearer ${KEY}` } },
      (response: IncomingMessage) => {
        const { statusCode: status = 0, headers } = response
        response.resume().on('error', reject)
        response.on('end', () => resolve({ status, closes: headers.connection === 'close' }))
      },
    ).on('error', reject)
  })
}

test('50 clients on persistent connections get no broken response', async () => {
  const app = await startApp()
  let answered = 0
  let closing = 0
  const broken: unknown[] = []
  const client = async (): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (let closes = false; !closes;) {
      const answer = await request(app, agent)
      closes = answer.closes
      if (answer.status === 200) answered += 1
      if (closes) closing += 1
    }
    agent.destroy()
  }
  const clients = Array.from({ length: 50 }, () =>
    client().catch((error: unknown) => broken.push(error)),
  )
  while (answered < 50) await sleep(10)
  // Longer than the pauses of a busy machine.
  await app.stop({ notice: 1_500 })
  await Promise.all(clients)
  expect(broken).toEqual([])
  expect(app.log().match(/"msg":"request completed"/g)).toHaveLength(answered)
  expect(closing).toBe(50)
  expect(answered).toBeGreaterThanOrEqual(50)
})

test('during the stop it is not ready, and all other responses have Connection: close', async () => {
  const app = await startApp()
  const stopped = app.stop({ notice: 300 })
  const ready = await fetch(`${app.url}/readyz`)
  expect(await outcome(ready)).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' })
  const answer = await app.get('/v1/project')
  expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close'])
  await stopped
  await expect(fetch(`${app.url}/livez`)).rejects.toThrow()
})

test('a running request gets its response', async () => {
  const app = await startApp({ runQuery: () => sleep(400, ANSWER) })
  const answer = app.ask()
  await sleep(100)
  await app.stop()
  expect((await answer).status).toBe(200)
})

test('SERVICE_UNAVAILABLE: a query that exceeds the grace period is stopped with an error', async () => {
  const app = await startApp({
    runQuery: (_request, _project, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('stopped')))
      }),
  })
  const answer = app.ask()
  await sleep(100)
  const begun = performance.now()
  await app.stop({ grace: 200 })
  expect(performance.now() - begun).toBeLessThan(1_000)
  expect(await outcome(await answer)).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' })
})

test('SERVICE_UNAVAILABLE: a request on an open connection after the grace period is refused', async () => {
  const app = await startApp({ runQuery: () => sleep(10_000, ANSWER, { ref: false }) })
  const pending = app.ask().catch(() => 'cut')
  const late = net.connect(app.port, '127.0.0.1').setEncoding('latin1')
  // Half a request keeps the connection from being idle.
  late.write('GET /livez HTTP/1.1\r\nHost: a\r\n')
  await sleep(100)
  const stopped = app.stop({ grace: 100, refusal: 500 })
  await sleep(300)
  late.write('\r\n')
  const text = await new Promise<string>((resolve) =>
    late.once('data', (data) => resolve(String(data))),
  )
  expect(text).toMatch(/^HTTP\/1\.1 503 /)
  expect(text).toContain('"code":"SERVICE_UNAVAILABLE"')
  await stopped
  expect(await pending).toBe('cut')
})
