/** Sends HTTP requests over many connections with little work of its own. A connection has one request at a time. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export interface Load {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** API keys or public tokens that the requests use in turn. */
  readonly tokens?: readonly string[]
  /** The body of the nth request. */
  readonly body: (n: number) => string
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
  /** Requests whose connection ended before the response. It was opened again. */
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

/** Opens the connections, sends requests for `seconds`, then waits for the responses that are missing. */
export async function sendLoad(load: Load): Promise<Loaded> {
  const { body, connections, seconds, rate } = load
  const heads = buildHeads(load)
  const responses: Response[] = []
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(load.url)))
  const begun = performance.now()
  const until = begun + seconds * 1_000
  let sent = 0
  let broken = 0

  /** When the next request is due; undefined at the end. */
  const findNextDue = (): number | undefined => {
    const due = rate === undefined ? performance.now() : begun + (sent / rate) * 1_000
    return due < until ? due : undefined
  }

  const useConnection = (socket: Socket): Promise<void> =>
    new Promise((resolve) => {
      let due: number | undefined
      let sentAt = 0
      let response = ''
      const next = (): void => {
        due = findNextDue()
        if (due === undefined) {
          socket.end()
          resolve()
          return
        }
        const head = heads[sent % heads.length]!
        const text = body(sent++)
        const wait = due - performance.now()
        const send = (): void => {
          sentAt = performance.now()
          socket.write(`${head}\r\nContent-Length: ${Buffer.byteLength(text)}${HEAD_END}${text}`)
        }
        if (wait > 1) setTimeout(send, wait)
        else send()
      }
      socket.on('error', () => undefined)
      socket.on('close', () => {
        if (due === undefined) return
        broken++
        resolve(open(load.url).then(useConnection))
      })
      socket.on('data', (data) => {
        response += data.toString('latin1')
        if (due === undefined || !isComplete(response)) return
        const now = performance.now()
        responses.push({ status: response.slice(9, 12), ms: now - due, sentMs: now - sentAt })
        response = ''
        next()
      })
      next()
    })

  await Promise.all(sockets.map(useConnection))
  return summarize(responses, broken, (performance.now() - begun) / 1_000)
}

async function open(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  await once(socket, 'connect')
  return socket
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
