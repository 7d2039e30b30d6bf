/** Sends HTTP requests over many connections with little work of its own. A connection has one request at a time. */
import { connect } from 'node:net'

export interface Load {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** The body of the nth request. */
  readonly body: (n: number) => string
  readonly connections: number
  readonly seconds: number
  /** Requests per second over all connections. Without it, each connection sends again as soon as it gets a response. */
  readonly rate?: number
}

export interface Loaded {
  /** Responses per second. */
  readonly rate: number
  /** Milliseconds from when a request was due to its response, in ascending order. */
  readonly latencies: readonly number[]
  /** The number of responses by status. */
  readonly statuses: ReadonlyMap<string, number>
}

const HEAD_END = '\r\n\r\n'

/** Whether a response has arrived in full; the collector's always have a Content-Length. */
function isComplete(text: string): boolean {
  const end = text.indexOf(HEAD_END)
  if (end === -1) return false
  const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
  return text.length >= end + HEAD_END.length + length
}

/** Sends requests for `seconds`, then waits for the responses that are missing. */
export async function sendLoad(load: Load): Promise<Loaded> {
  const { url, headers, body, connections, seconds, rate } = load
  const { hostname, port, pathname } = new URL(url)
  const head = [
    `POST ${pathname} HTTP/1.1`,
    `Host: ${hostname}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ].join('\r\n')
  const latencies: number[] = []
  const statuses = new Map<string, number>()
  const begun = performance.now()
  const until = begun + seconds * 1_000
  let sent = 0

  /** When the next request is due; undefined at the end. */
  const findNextDue = (): number | undefined => {
    const due = rate === undefined ? performance.now() : begun + (sent / rate) * 1_000
    return due < until ? due : undefined
  }

  const runConnection = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true })
      let due = 0
      let response = ''
      const next = (): void => {
        const at = findNextDue()
        if (at === undefined) {
          socket.end()
          resolve()
          return
        }
        due = at
        const text = body(sent++)
        const wait = at - performance.now()
        const send = (): void => {
          socket.write(`${head}\r\nContent-Length: ${Buffer.byteLength(text)}${HEAD_END}${text}`)
        }
        if (wait > 1) setTimeout(send, wait)
        else send()
      }
      socket.on('connect', next)
      socket.on('error', reject)
      socket.on('data', (data) => {
        response += data.toString('latin1')
        if (!isComplete(response)) return
        latencies.push(performance.now() - due)
        const status = response.slice(9, 12)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        response = ''
        next()
      })
    })

  await Promise.all(Array.from({ length: connections }, runConnection))
  return {
    rate: (latencies.length * 1_000) / (performance.now() - begun),
    latencies: latencies.sort((a, b) => a - b),
    statuses,
  }
}
