/** Chooses the port of the engine. */
import { randomInt } from 'node:crypto'
import { readFile } from 'node:fs/promises'

const LOWEST = 10_000
const USUAL_EPHEMERAL = 32_768

/**
 * A random port below those the system gives to outgoing connections. On one of those, a client that
 * retries while the engine restarts could be given the engine's port as its own end, connect to
 * itself, and keep the engine from coming back.
 */
export async function choosePort(): Promise<number> {
  return randomInt(LOWEST, await lowestEphemeralPort())
}

async function lowestEphemeralPort(): Promise<number> {
  const range = await readFile('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').catch(() => '')
  const lowest = Number.parseInt(range, 10)
  return lowest > LOWEST ? lowest : USUAL_EPHEMERAL
}
