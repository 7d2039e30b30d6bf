/** Creates the address, accounts and passwords of an engine that is about to start. */
import { randomBytes, randomInt } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Account, Credentials, Endpoint } from '../endpoint.js'

const DATABASE = 'tallyhouse'
const MIN_PORT = 10_000
/** The lowest ephemeral port of Linux, unless it is configured otherwise. */
const DEFAULT_EPHEMERAL_PORT = 32_768

/** Creates an endpoint on this machine. Its passwords are valid for one engine, across its restarts, and no other. */
export async function createEndpoint(): Promise<Endpoint> {
  return {
    url: `http://127.0.0.1:${await choosePort()}`,
    database: DATABASE,
    accounts: {
      admin: createCredentials('admin'),
      writer: createCredentials('writer'),
      reader: createCredentials('reader'),
    },
  }
}

const createCredentials = (username: Account): Credentials => ({
  username,
  password: randomBytes(24).toString('base64url'),
})

/**
 * Returns a random port below the ephemeral ports, which the system gives to outgoing connections. If the engine had
 * an ephemeral port, a client that retries while the engine restarts could get that port as its own: it would
 * connect to itself, and the engine could not listen again.
 */
async function choosePort(): Promise<number> {
  return randomInt(MIN_PORT, await readLowestEphemeralPort())
}

async function readLowestEphemeralPort(): Promise<number> {
  const range = await readFile('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').catch(() => '')
  const lowest = Number.parseInt(range, 10)
  return lowest > MIN_PORT ? lowest : DEFAULT_EPHEMERAL_PORT
}
