/**
 * Lets one process at a time do a kind of work on a store, by what every ClickHouse has: of several
 * that create a table of one name, one succeeds.
 *
 * A lease has generations, each with a table. Whoever makes the table of the next generation holds
 * the lease; that may be done when the newest generation was released, or its holder was not heard
 * of for long. The newest table is never dropped, so the numbers only grow and none is held twice.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from '../connection.js'
import { startHeartbeat } from './lease-heartbeat.js'
import {
  createGeneration,
  dropGeneration,
  listGenerations,
  readHolderState,
  writeLeaseState,
  type Generation,
  type LeaseName,
} from './lease-store.js'

export { LeaseLostError } from './lease-heartbeat.js'
export type { LeaseName } from './lease-store.js'

export interface Lease {
  /** Aborted with a LeaseLostError once the lease is lost, as far as the heartbeat can tell. */
  readonly signal: AbortSignal
  /** Asks the store whether the lease is still held, ahead of a step that must not be done twice. */
  readonly stillHeld: () => Promise<boolean>
}

export interface LeaseOptions {
  /** Milliseconds to wait for one's turn; a minute by default. */
  readonly waitMs?: number
}

/** Another process held the lease for longer than was waited. */
export class LeaseTimeoutError extends Error {
  override readonly name = 'LeaseTimeoutError'
}

const POLL_MS = 100
/** A holder that was not heard of for so long is taken for dead. Its heart gives up before that. */
const EXPIRY_MS = 10_000

/**
 * Waits for one's turn, runs `work`, and releases the lease however that ends. The account needs to
 * create and drop tables.
 *
 * @throws LeaseTimeoutError when it is not one's turn within `waitMs`.
 */
export async function withLease<Result>(
  connection: Connection,
  name: LeaseName,
  work: (lease: Lease) => Promise<Result>,
  { waitMs = 60_000 }: LeaseOptions = {},
): Promise<Result> {
  const number = await acquire(connection, name, waitMs)
  const heart = startHeartbeat(() => writeLeaseState(connection, name, number, 'held'), name)
  const stillHeld = async (): Promise<boolean> => {
    if (heart.lost.aborted) return false
    const [newest] = await listGenerations(connection, name)
    return newest?.number === number
  }
  try {
    return await work({ signal: heart.lost, stillHeld })
  } finally {
    heart.stop()
    // A lease that cannot be released expires.
    await writeLeaseState(connection, name, number, 'released').catch(() => undefined)
  }
}

/** The number of the generation that is held from now on. */
async function acquire(connection: Connection, name: LeaseName, waitMs: number): Promise<number> {
  const until = performance.now() + waitMs
  for (;;) {
    const [newest] = await listGenerations(connection, name)
    if (newest === undefined || (await isFree(connection, name, newest))) {
      const next = (newest?.number ?? 0) + 1
      if (await take(connection, name, next)) return next
    }
    if (performance.now() > until) {
      throw new LeaseTimeoutError(
        `another process has held the lease "${name}" of this database for ${waitMs / 1000} s`,
      )
    }
    await sleep(POLL_MS)
  }
}

async function isFree(
  connection: Connection,
  name: LeaseName,
  generation: Generation,
): Promise<boolean> {
  const holder = await readHolderState(connection, name, generation)
  return holder !== undefined && (holder.released || holder.silence > EXPIRY_MS)
}

async function take(connection: Connection, name: LeaseName, number: number): Promise<boolean> {
  if (!(await createGeneration(connection, name, number))) return false
  const generations = await listGenerations(connection, name)
  if (generations.some((other) => other.number > number)) {
    // Between the look at the newest and the making of its successor others held the lease and
    // dropped their old tables, this one's name among them.
    await dropGeneration(connection, name, number)
    return false
  }
  await writeLeaseState(connection, name, number, 'held')
  for (const old of generations.filter((other) => other.number < number)) {
    await dropGeneration(connection, name, old.number)
  }
  return true
}
