/** Creates the address, accounts and passwords of an engine that is about to start. */
import { randomBytes, randomInt } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import type { Account, Credentials, Endpoint } from '../endpoint.js'

const HOST = '127.0.0.1'
const DATABASE = 'tallyhouse'
const MIN_PORT = 10_000
/** The lowest ephemeral port of Linux, unless it is configured otherwise. */
const DEFAULT_EPHEMERAL_PORT = 32_768

/** Creates an endpoint on this machine. Its passwords are valid for one engine, across its restarts, and no other. */
export async function createEndpoint(): Promise<Endpoint> {
  const [port = 0] = await choosePorts(1)
  return createEndpointOn(port)
}

/** Creates the endpoint of a port, as `createEndpoint` does. */
export const createEndpointOn = (port: number): Endpoint => ({
  url: `http://${HOST}:${port}`,
  database: DATABASE,
  accounts: {
    admin: createCredentials('admin'),
    writer: createCredentials('writer'),
    reader: createCredentials('reader'),
  },
})

const createCredentials = (username: Account): Credentials => ({
  username,
  password: randomBytes(24).toString('base64url'),
})

/**
 * Returns different ports on which nothing listens. They are below the ephemeral ports, which the system gives to outgoing
 * connections. If the engine had an ephemeral port, a client that retries while the engine restarts could get that port as
 * its own: it would connect to itself, and the engine could not listen again.
 *
 * @param propose returns a port to try; a random one by default
 */
export async function choosePorts(count: number, propose?: () => number): Promise<number[]> {
  const end = await readLowestEphemeralPort()
  const next = propose ?? (() => randomInt(MIN_PORT, end))
  const held: Server[] = []
  const ports: number[] = []
  try {
    while (ports.length < count) {
      const port = next()
      const server = await listenOn(port)
      if (server === undefined) continue
      // Held until all are chosen, so they differ.
      held.push(server)
      ports.push(port)
    }
    return ports
  } finally {
    await Promise.all(held.map((server) => new Promise((resolve) => server.close(resolve))))
  }
}

/** Returns a server that listens on a port; undefined if another one does. */
const listenOn = (port: number): Promise<Server | undefined> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined)
      else reject(error)
    })
    server.listen(port, HOST, () => resolve(server))
  })

async function readLowestEphemeralPort(): Promise<number> {
  const range = await readFile('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').catch(() => '')
  const lowest = Number.parseInt(range, 10)
  return lowest > MIN_PORT ? lowest : DEFAULT_EPHEMERAL_PORT
}
