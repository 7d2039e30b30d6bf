/** A TCP proxy that harms connections at a chosen byte of either direction. */
import { once } from 'node:events'
import net from 'node:net'

/** From the client to the server, or back. */
export type Direction = 'request' | 'response'

/** What happens to a connection at a byte. */
export type Harm =
  /** Both ends see the end of the stream. */
  | 'cut'
  | 'reset'
  /** The connection stays open, and no further byte passes either way. */
  | 'hang'
  /** All bits of the byte are changed. */
  | 'garble'
  /** The byte is left out. */
  | 'drop'
  /** The byte comes twice. */
  | 'repeat'
  /** From the byte on, each byte comes alone, as long as the connection lives. */
  | 'slow'

export interface Fault {
  readonly harm: Harm
  readonly direction: Direction
  /** How many bytes of the direction pass before it. */
  readonly after: number
  /** Whether only the first connection is harmed that comes so far; all by default. */
  readonly isOnce?: boolean
}

/** Bytes that have passed. */
export type Passed = Readonly<Record<Direction, number>>

export interface ByteProxy {
  readonly port: number
  /**
   * Harms the connections from now on, old ones and new ones, or none of them. The bytes of each connection are counted from
   * here on.
   */
  set(fault?: Fault): void
  /** The bytes of all connections since the last `set`. */
  passed(): Passed
  /** How many connections were harmed since the last `set`. */
  harmed(): number
  /** Closes all connections. */
  closeAll(by: 'cut' | 'reset'): void
  stop(): Promise<void>
}

/** What the connections of a proxy share. */
interface State {
  fault: Fault | undefined
  passed: Record<Direction, number>
  harmed: number
  /** Rises with each `set`. */
  round: number
}

interface Link {
  readonly end: (by: 'cut' | 'reset') => void
}

/** Starts a proxy to a port of this machine. At first it passes everything. */
export async function startByteProxy(target: number): Promise<ByteProxy> {
  const state: State = {
    fault: undefined,
    passed: { request: 0, response: 0 },
    harmed: 0,
    round: 0,
  }
  const links = new Set<Link>()
  const server = net.createServer({ noDelay: true }, (client) => {
    const upstream = net.connect({ port: target, host: '127.0.0.1', noDelay: true })
    const link: Link = {
      end: (by) => {
        for (const socket of [client, upstream]) {
          if (by === 'cut') socket.destroySoon()
          else socket.resetAndDestroy()
        }
      },
    }
    links.add(link)
    const close = (): void => {
      links.delete(link)
      client.destroySoon()
      upstream.destroySoon()
    }
    for (const socket of [client, upstream]) socket.on('close', close).on('error', close)
    const line: Line = { state, link, isHanging: false }
    client.on('data', createFlow(line, 'request', upstream))
    upstream.on('data', createFlow(line, 'response', client))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const closeAll = (by: 'cut' | 'reset'): void => links.forEach((link) => link.end(by))
  return {
    port: (server.address() as net.AddressInfo).port,
    set: (fault) => {
      state.fault = fault
      state.passed = { request: 0, response: 0 }
      state.harmed = 0
      state.round += 1
    },
    passed: () => ({ ...state.passed }),
    harmed: () => state.harmed,
    closeAll,
    stop: async () => {
      closeAll('reset')
      server.close()
      await once(server, 'close')
    },
  }
}

/** What both directions of a connection share. */
interface Line {
  readonly state: State
  readonly link: Link
  isHanging: boolean
}

/** Returns a function that passes the chunks of one direction on, and harms the connection when its byte comes. */
function createFlow(line: Line, direction: Direction, to: net.Socket): (chunk: Buffer) => void {
  const { state } = line
  let round = state.round
  let count = 0
  let isSlow = false
  let turn: Promise<void> | undefined
  const write = (bytes: Buffer): void => {
    if (isSlow) turn = (turn ?? Promise.resolve()).then(() => writeSlowly(to, bytes))
    else if (bytes.length > 0 && to.writable) to.write(bytes)
  }
  return (chunk) => {
    if (round !== state.round) [round, count] = [state.round, 0]
    const at = findByte(state, direction, count, chunk.length)
    count += chunk.length
    if (line.isHanging) return
    state.passed[direction] += chunk.length
    if (at === undefined) {
      write(chunk)
      return
    }
    state.harmed += 1
    const { harm } = state.fault!
    write(chunk.subarray(0, at))
    const [byte, rest] = [chunk.subarray(at, at + 1), chunk.subarray(at + 1)]
    if (harm === 'cut' || harm === 'reset') line.link.end(harm)
    else if (harm === 'hang') line.isHanging = true
    else if (harm === 'slow') {
      isSlow = true
      write(chunk.subarray(at))
    } else write(Buffer.concat([HARMED[harm](byte), rest]))
  }
}

const HARMED: Readonly<Record<'garble' | 'drop' | 'repeat', (byte: Buffer) => Buffer>> = {
  garble: (byte) => Buffer.from(byte.map((value) => value ^ 0xff)),
  drop: () => Buffer.alloc(0),
  repeat: (byte) => Buffer.concat([byte, byte]),
}

/** Returns where in a chunk the byte of the fault is; undefined if it is not there. */
function findByte(
  { fault, harmed }: State,
  direction: Direction,
  before: number,
  length: number,
): number | undefined {
  if (fault?.direction !== direction || (fault.isOnce === true && harmed > 0)) return undefined
  const at = fault.after - before
  return at >= 0 && at < length ? at : undefined
}

/** Writes each byte in a turn of its own, so that it is a packet of its own. */
async function writeSlowly(to: net.Socket, bytes: Buffer): Promise<void> {
  for (const byte of bytes) {
    if (!to.writable) return
    to.write(Buffer.of(byte))
    await new Promise((resolve) => setImmediate(resolve))
  }
}
