/** Sends requests over HTTP at little cost of its own, each connection one after the other. */
import { connect } from 'node:net'

export interface Load {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** The body of the nth request. */
  readonly body: (n: number) => string
  readonly connections: number
  readonly seconds: number
  /** Requests a second, of all connections together; without it each goes on at once. */
  readonly rate?: number
}

export interface Loaded {
  /** Requests that were answered, a second. */
  readonly rate: number
  /** Milliseconds from the moment a request was due to its answer, in ascending order. */
  readonly latencies: readonly number[]
  /** How many answers had which status. */
  readonly statuses: ReadonlyMap<string, number>
}

const HEAD_END = '\r\n\r\n'

/** Whether an answer is there in full; the collector's have a length. */
function isWhole(text: string): boolean {
  const end = text.indexOf(HEAD_END)
  if (end === -1) return false
  const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
  return text.length >= end + HEAD_END.length + length
}

/** Sends for so many seconds, then waits for what is unanswered. */
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

  /** When the next request is due; undefined when there is none. */
  const nextDue = (): number | undefined => {
    const due = rate === undefined ? performance.now() : begun + (sent / rate) * 1_000
    return due < until ? due : undefined
  }

  const runOne = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true })
      let due = 0
      let answer = ''
      const next = (): void => {
        const at = nextDue()
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
        answer += data.toString('latin1')
        if (!isWhole(answer)) return
        latencies.push(performance.now() - due)
        const status = answer.slice(9, 12)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        answer = ''
        next()
      })
    })

  await Promise.all(Array.from({ length: connections }, runOne))
  return {
    rate: (latencies.length * 1_000) / (performance.now() - begun),
    latencies: latencies.sort((a, b) => a - b),
    statuses,
  }
}
