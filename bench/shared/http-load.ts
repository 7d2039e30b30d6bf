/** Sends HTTP requests over many connections with little work of its own. A connection has one request at a time. */
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Load {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** API keys or public tokens that the requests use in turn. */
  readonly tokens?: readonly string[]
  /** The body of the nth request. */
  readonly body: (n: number) => string
  /** How many requests may wait for their responses at once. */
  readonly connections: number
  readonly seconds: number
  /** Requests per second over all connections. Without it, each connection sends again as soon as it gets a response. */
  readonly rate?: number
}

export interface Loaded {
  /** The seconds until the last response. */
  readonly seconds: number
  /** Responses per second. */
  readonly rate: number
  /** Milliseconds from when a request was due to its response, in ascending order. */
  readonly latencies: readonly number[]
  /** The number of responses by status. */
  readonly statuses: ReadonlyMap<string, number>
  /** The milliseconds from sending to the response, of the responses with one of these statuses. */
  readonly latenciesOf: (...statuses: readonly string[]) => readonly number[]
  /** Requests whose connection ended before the response. */
  readonly broken: number
}

const HEAD_END = '\r\n\r\n'

/** Whether a response has arrived in full; the collector's always have a Content-Length. */
function isComplete(text: string): boolean {
  const end = text.indexOf(HEAD_END)
  if (end === -1) return false
  const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
  return text.length >= end + HEAD_END.length + length
}

interface Response {
  readonly status: string
  /** Milliseconds since the request was due, and since it was sent: later, if no connection was free. */
  readonly ms: number
  readonly sentMs: number
}

/**
 * Sends requests for `seconds`, then waits for the responses that are missing. At a rate, each request takes a free
 * connection when it is due, or opens one; if all connections wait for responses, it is sent when the first is free.
 */
export async function sendLoad(load: Load): Promise<Loaded> {
  const { body, connections, seconds, rate } = load
  const heads = buildHeads(load)
  const responses: Response[] = []
  const free: Connection[] = []
  const begun = performance.now()
  const until = begun + seconds * 1_000
  let sent = 0
  let broken = 0

  /** Sends the next request. Resolves when its connection is free again, or has ended. */
  async function sendNext(due: number): Promise<void> {
    let connection = free.pop()
    while (connection?.isOpen() === false) connection = free.pop()
    connection ??= createConnection(load.url)
    const head = heads[sent % heads.length]!
    const text = body(sent++)
    const sentAt = performance.now()
    const response = await connection.send(
      `${head}\r\nContent-Length: ${Buffer.byteLength(text)}${HEAD_END}${text}`,
    )
    const now = performance.now()
    if (response === undefined) {
      broken++
      return
    }
    responses.push({ status: response.slice(9, 12), ms: now - due, sentMs: now - sentAt })
    free.push(connection)
  }
  async function sendInTurn(): Promise<void> {
    while (performance.now() < until) await sendNext(performance.now())
  }
  async function sendAtRate(perSecond: number): Promise<void> {
    let waiting = 0
    let onFree = (): void => undefined
    for (let due = begun; due < until; due = begun + (sent * 1_000) / perSecond) {
      const pause = due - performance.now()
      if (pause > 1) await sleep(pause)
      if (waiting === connections) await new Promise<void>((resolve) => (onFree = resolve))
      waiting++
      void sendNext(due).then(() => {
        waiting--
        onFree()
      })
    }
    while (waiting > 0) await new Promise<void>((resolve) => (onFree = resolve))
  }

  await (rate === undefined
    ? Promise.all(Array.from({ length: connections }, sendInTurn))
    : sendAtRate(rate))
  for (const connection of free) connection.end()
  return summarize(responses, broken, (performance.now() - begun) / 1_000)
}

interface Connection {
  /** Resolves with the response; undefined if the connection ended before it. */
  send(request: string): Promise<string | undefined>
  isOpen(): boolean
  end(): void
}

/** Opens a connection, which has one request at a time. */
function createConnection(url: string): Connection {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  let response = ''
  let finish: (response: string | undefined) => void = () => undefined
  socket.on('error', () => undefined)
  socket.on('close', () => finish(undefined))
  socket.on('data', (data) => {
    response += data.toString('latin1')
    if (isComplete(response)) finish(response)
  })
  return {
    send: (request) =>
      new Promise((resolve) => {
        response = ''
        finish = resolve
        if (socket.destroyed) resolve(undefined)
        else socket.write(request)
      }),
    isOpen: () => !socket.destroyed,
    end: () => socket.end(),
  }
}

/** Builds the first lines of a request, for each token. */
function buildHeads({ url, headers, tokens }: Load): readonly string[] {
  const { host, pathname } = new URL(url)
  const lines = [
    `POST ${pathname} HTTP/1.1`,
    `Host: ${host}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ].join('\r\n')
  return tokens?.map((token) => `${lines}\r\nAuthorization: Bearer ${token}`) ?? [lines]
}

function summarize(responses: readonly Response[], broken: number, seconds: number): Loaded {
  const statuses = new Map<string, number>()
  for (const { status } of responses) statuses.set(status, (statuses.get(status) ?? 0) + 1)
  return {
    seconds,
    rate: responses.length / seconds,
    latencies: responses.map(({ ms }) => ms).sort((a, b) => a - b),
    statuses,
    latenciesOf: (...wanted) =>
      responses.filter(({ status }) => wanted.includes(status)).map(({ sentMs }) => sentMs),
    broken,
  }
}
