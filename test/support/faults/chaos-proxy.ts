/** A TCP proxy in front of a server, which fails in a chosen way. */
import { once } from 'node:events'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** What happens to the bytes that come after the choice, on old connections and new ones. */
export type Fault =
  | { readonly kind: 'none' }
  /** Connections open, and no byte passes either way. */
  | { readonly kind: 'black hole' }
  /** Each chunk of the response arrives that much later. */
  | { readonly kind: 'latency'; readonly ms: number }
  /** The response comes in slices of `bytes`, one every `ms`. */
  | { readonly kind: 'trickle'; readonly bytes: number; readonly ms: number }
  /** The connection ends after that many bytes of the response. */
  | { readonly kind: 'cut'; readonly after: number; readonly by: 'RST' | 'FIN' }
  /** The connection is reset `ms` after the request. */
  | { readonly kind: 'impatient'; readonly ms: number }
  /** Connections are closed `ms` after their last byte, as servers close idle ones. */
  | { readonly kind: 'idle'; readonly ms: number }
  /** A connection answers one request, and is reset when the next one comes. */
  | { readonly kind: 'one request' }
  /** Connections are reset as soon as they are accepted. */
  | { readonly kind: 'reject' }

export interface ChaosProxy {
  readonly url: string
  /** A function chooses the fault of each response, when a request arrives on its connection. */
  fail(fault: Fault | (() => Fault)): void
  /** Resets all connections. */
  killAll(): void
  /** The number of open connections. */
  connections(): number
  stop(): Promise<void>
}

/** Starts a proxy to the host and port of `target`. At first it passes everything. */
export async function startChaosProxy(target: string): Promise<ChaosProxy> {
  let next: Fault | (() => Fault) = { kind: 'none' }
  const clients = new Set<net.Socket>()
  const { hostname, port } = new URL(target)
  const server = net.createServer((client) => {
    let chosen: Fault = { kind: 'none' }
    const fault = (): Fault => (typeof next === 'function' ? chosen : next)
    if (fault().kind === 'reject') return void client.resetAndDestroy()
    clients.add(client)
    const upstream = net.connect(Number(port), hostname)
    client.once('close', () => {
      clients.delete(client)
      upstream.destroy()
    })
    upstream.once('close', () => fault().kind !== 'black hole' && client.destroySoon())
    client.on('error', () => undefined)
    client.on('timeout', () => client.destroy())
    upstream.on('error', () => client.resetAndDestroy())
    let [sent, isUsed] = [0, false]
    client.on('data', (chunk) => {
      if (fault().kind === 'one request' && isUsed) return void client.resetAndDestroy()
      sent = 0
      if (typeof next === 'function') chosen = next()
      const now = fault()
      if (now.kind !== 'black hole') upstream.write(chunk)
      if (now.kind === 'impatient') setTimeout(() => client.resetAndDestroy(), now.ms).unref()
    })
    let turn = Promise.resolve()
    upstream.on('data', (chunk) => {
      const before = sent
      sent += chunk.length
      isUsed = true
      const arrived = performance.now()
      turn = turn.then(() => pass({ chunk, before, arrived }, client, fault()))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const killAll = (): void => clients.forEach((client) => client.resetAndDestroy())
  return {
    url: `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`,
    fail: (fault) => {
      next = fault
    },
    killAll,
    connections: () => clients.size,
    stop: async () => {
      killAll()
      server.close()
      await once(server, 'close')
    },
  }
}

interface Chunk {
  readonly chunk: Buffer
  /** How many bytes of the response came before it. */
  readonly before: number
  /** When it came from the server, in milliseconds of `performance.now`. */
  readonly arrived: number
}

/** Passes a chunk of a response on. */
async function pass(
  { chunk, before, arrived }: Chunk,
  client: net.Socket,
  fault: Fault,
): Promise<void> {
  if (client.destroyed || fault.kind === 'black hole') return
  if (fault.kind === 'latency') {
    // Chunks wait beside each other: a response of two chunks is not twice as late.
    const rest = arrived + fault.ms - performance.now()
    if (rest > 0) await sleep(rest, undefined, { ref: false })
  }
  if (fault.kind === 'trickle') {
    for (let at = 0; at < chunk.length && client.writable; at += fault.bytes) {
      client.write(chunk.subarray(at, at + fault.bytes))
      await sleep(fault.ms)
    }
    return
  }
  if (fault.kind === 'cut' && before + chunk.length >= fault.after) {
    const rest = chunk.subarray(0, Math.max(0, fault.after - before))
    client.write(rest, () => (fault.by === 'RST' ? client.resetAndDestroy() : client.destroy()))
    return
  }
  if (fault.kind === 'idle') client.setTimeout(fault.ms)
  client.write(chunk)
}
