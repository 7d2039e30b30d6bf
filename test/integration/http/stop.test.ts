/** A graceful stop completes responses, takes a limited time, and refuses late requests with an error. */
import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { HOUR_MS } from '../../../src/lib/time.js'
import { KEY, outcome, startApp, type Given, type RunningApp } from './harness.js'

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

/** Opens a connection. Returns it, and the text of all that it receives until it ends. */
function connect(app: RunningApp): { socket: net.Socket; text: Promise<string> } {
  const socket = net.connect(app.port, '127.0.0.1').setEncoding('latin1')
  const text = new Promise<string>((resolve, reject) => {
    let received = ''
    socket.on('data', (data) => (received += String(data)))
    socket.on('end', () => resolve(received)).on('error', reject)
  })
  return { socket, text }
}

const PROBE = 'GET /livez HTTP/1.1\r\nHost: a\r\n\r\n'

/** Opens a connection that has had a response. */
async function connectIdle(app: RunningApp): Promise<ReturnType<typeof connect>> {
  const idle = connect(app)
  idle.socket.write(PROBE)
  await once(idle.socket, 'data')
  return idle
}

/** Returns the status and the header Connection of each response in a text. */
const summarize = (text: string): readonly string[] =>
  text
    .split(/(?=HTTP\/1\.1)/)
    .map((one) => [/ (\d+)/, /^Connection: (.+)\r$/im].map((part) => part.exec(one)?.[1]).join(' '))

/** Creates a query that is under way until `finish` is called, or its signal is aborted. */
function holdQuery(): {
  readonly readRows: NonNullable<Given['readRows']>
  readonly isAsked: Promise<void>
  readonly finish: () => void
} {
  let finish!: () => void
  const finished = new Promise<void>((resolve) => (finish = resolve))
  let ask!: () => void
  const isAsked = new Promise<void>((resolve) => (ask = resolve))
  const readRows: NonNullable<Given['readRows']> = async ({ signal }) => {
    ask()
    await Promise.race([finished, once(signal, 'abort')])
    signal.throwIfAborted()
    return []
  }
  return { readRows, isAsked, finish }
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
  await app.stop()
  await Promise.all(clients)
  expect(broken).toEqual([])
  expect(app.log().match(/"msg":"request completed"/g)).toHaveLength(answered)
  expect(closing).toBe(50)
  expect(answered).toBeGreaterThanOrEqual(50)
})

test('requests under way and on open connections are answered, and close them; it is not ready', async () => {
  const { isAsked, finish, readRows } = holdQuery()
  const app = await startApp({ readRows })
  const [first, second] = [await connectIdle(app), await connectIdle(app)]
  const answer = app.ask()
  await isAsked
  const stopped = app.stop({ grace: HOUR_MS })
  first.socket.write(PROBE.replace('livez', 'readyz'))
  second.socket.write(PROBE)
  expect(summarize(await first.text)).toEqual(['200 keep-alive', '503 close'])
  expect(summarize(await second.text)).toEqual(['200 keep-alive', '200 close'])
  finish()
  const { status, headers } = await answer
  expect([status, headers.get('connection')]).toEqual([200, 'close'])
  await stopped
  await expect(fetch(`${app.url}/livez`)).rejects.toThrow()
})

test('what arrived before connections are closed is answered, however late it is read', async () => {
  const app = await startApp()
  const idle = await connectIdle(app)
  const stopped = app.stop({ notice: 50 })
  idle.socket.write(PROBE)
  const late = connect(app)
  late.socket.write(PROBE)
  const fresh = connect(app)
  // A connection is opened in the next tick.
  await new Promise<void>((resolve) => process.nextTick(resolve))
  // A busy machine keeps the process from reading what arrives until the time for notice is over.
  for (const end = performance.now() + 200; performance.now() < end;);
  expect(summarize(await idle.text)).toEqual(['200 keep-alive', '200 close'])
  expect(summarize(await late.text)).toEqual(['200 close'])
  // A client that has just connected is about to send a request, even if all others have their answers.
  await sleep(20)
  fresh.socket.write(PROBE)
  expect(summarize(await fresh.text)).toEqual(['200 close'])
  await stopped
})

test('neither an idle connection nor one that was never used delays the stop', async () => {
  const app = await startApp()
  const [idle, unused] = [await connectIdle(app), connect(app)]
  await once(unused.socket, 'connect')
  // Without a close, the test times out.
  await app.stop({ grace: HOUR_MS })
  expect(summarize(await idle.text)).toEqual(['200 keep-alive'])
  expect(await unused.text).toBe('')
})

test('SERVICE_UNAVAILABLE: a query that exceeds the grace period is stopped with an error', async () => {
  const { isAsked, readRows } = holdQuery()
  const app = await startApp({ readRows })
  const answer = app.ask()
  await isAsked
  await app.stop({ grace: 100 })
  expect(await outcome(await answer)).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' })
})

test('SERVICE_UNAVAILABLE: a request on an open connection after the grace period is refused', async () => {
  let stop!: () => void
  const isStopping = new Promise<void>((resolve) => (stop = resolve))
  let ask!: () => void
  const isAsked = new Promise<void>((resolve) => (ask = resolve))
  const app = await startApp({
    readRows: ({ signal }) => {
      ask()
      signal.addEventListener('abort', stop)
      return new Promise(() => undefined)
    },
  })
  const pending = app.ask().catch(() => 'cut')
  await isAsked
  const late = connect(app)
  // Half a request keeps the connection from being idle.
  late.socket.write('GET /livez HTTP/1.1\r\nHost: a\r\n')
  const stopped = app.stop({ grace: 100, refusal: 500 })
  await isStopping
  late.socket.write('\r\n')
  const text = await late.text
  expect(summarize(text)).toEqual(['503 close'])
  expect(text).toContain('"code":"SERVICE_UNAVAILABLE"')
  await stopped
  expect(await pending).toBe('cut')
})
