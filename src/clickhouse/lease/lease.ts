/**
 * Lets one process at a time do a kind of work on a store. It relies only on this: when several processes create a
 * table with the same name, exactly one of them succeeds.
 *
 * A lease has generations, each with a table. The process that creates the table of the next generation holds
 * the lease. It may do so when the newest generation was released, or when its holder has been silent for too
 * long. The newest table is never dropped, so numbers only grow, and two processes never hold the same generation.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from '../connection.js'
import { fenceConnection } from '../connection-wrappers.js'
import { LeaseLostError, startHeartbeat } from './lease-heartbeat.js'
import { getLeaseStore, type Generation, type LeaseName } from './lease-store.js'

export { LeaseLostError } from './lease-heartbeat.js'

export interface Lease {
  /**
   * The number of the generation that this process holds. It is higher than that of every earlier holder, so names and
   * tokens that contain it are never those of another holder.
   */
  readonly generation: number
  /** Aborted with a LeaseLostError once the heartbeat notices that the lease is lost. */
  readonly signal: AbortSignal
  /**
   * Asks the store whether this process still holds the lease. A process that was suspended may have lost it without
   * noticing, so call this before a step that would do harm then.
   *
   * @throws LeaseLostError
   */
  assertHeld(): Promise<void>
}

export interface HeldLease extends Lease {
  /** Returns whether the holder should release the lease after its current step, as another process may wait for it. */
  isWanted(): Promise<boolean>
  /** Releases the lease. Never rejects; further calls do nothing. */
  release(): Promise<void>
}

export interface LeaseOptions {
  /** How long to wait for the lease, in milliseconds; a minute by default. 0 tries once. */
  readonly waitMs?: number
  /** Whether to ask the holder for an early release while waiting; true by default. */
  readonly requestsTurn?: boolean
}

/** Other processes held the lease for the whole wait. */
export class LeaseTimeoutError extends Error {
  override readonly name = 'LeaseTimeoutError'

  constructor(lease: string, waitMs: number) {
    super(`another process has held the lease "${lease}" of this database for ${waitMs / 1000} s`)
  }
}

const POLL_INTERVAL_MS = 100
/** A wait shorter than this is not worth a request. */
const REQUEST_AFTER_MS = 300
/** A holder that is silent for this long counts as dead. Its own heartbeat gives the lease up earlier. */
export const EXPIRY_MS = 10_000
/** Loaders of several services do not ask each other, so after this long a holder lets another one have its turn. */
const MAX_HOLD_MS = 20_000

/** How long a holder that released a wanted lease waits before it acquires it again. Waiters poll more often. */
export const HANDOVER_MS = 300

/**
 * Waits for the lease, runs `work`, and releases the lease however the work ends. The account needs to create
 * and drop tables.
 *
 * @throws LeaseTimeoutError when the lease does not become free within `waitMs`
 */
export async function withLease<Result>(
  connection: Connection,
  name: LeaseName,
  work: (lease: Lease) => Promise<Result>,
  options: LeaseOptions = {},
): Promise<Result> {
  const lease = await acquireLease(connection, name, options)
  try {
    return await work(lease)
  } finally {
    await lease.release()
  }
}

/** Runs work under a lease, with a connection that sends nothing once the lease is lost. */
export const underLease = <Result>(
  connection: Connection,
  name: LeaseName,
  work: (fenced: Connection, lease: Lease) => Promise<Result>,
  options?: LeaseOptions,
): Promise<Result> =>
  withLease(
    connection,
    name,
    (lease) => work(fenceConnection(connection, lease.signal), lease),
    options,
  )

/**
 * Waits for the lease and takes it, for a holder with several steps of work. Between two steps the holder calls
 * `isWanted()`, and releases the lease if it returns true. The account needs to create and drop tables.
 *
 * @throws LeaseTimeoutError when the lease does not become free within `waitMs`
 */
export async function acquireLease(
  connection: Connection,
  name: LeaseName,
  options: LeaseOptions = {},
): Promise<HeldLease> {
  const generation = await waitForGeneration(connection, name, options)
  const begun = performance.now()
  const heartbeat = startHeartbeat(
    () => getLeaseStore(connection).writeLeaseState(connection, name, generation, 'held'),
    name,
  )
  let released: Promise<void> | undefined
  return {
    generation,
    signal: heartbeat.lost,
    assertHeld: async () => {
      heartbeat.lost.throwIfAborted()
      const [newest] = await getLeaseStore(connection).listGenerations(connection, name)
      if (newest?.number !== generation) throw new LeaseLostError(name)
    },
    isWanted: async () =>
      performance.now() - begun > MAX_HOLD_MS ||
      (await getLeaseStore(connection).isReleaseRequested(connection, name, generation)),
    release: () => {
      heartbeat.stop()
      // A lease that cannot be released expires.
      released ??= getLeaseStore(connection)
        .writeLeaseState(connection, name, generation, 'released')
        .catch(() => undefined)
      return released
    },
  }
}

/**
 * Waits until this process holds a generation, and returns its number.
 *
 * @throws LeaseTimeoutError
 */
async function waitForGeneration(
  connection: Connection,
  name: LeaseName,
  { waitMs = 60_000, requestsTurn = true }: LeaseOptions,
): Promise<number> {
  const begun = performance.now()
  let requested: number | undefined
  for (;;) {
    const [newest] = await getLeaseStore(connection).listGenerations(connection, name)
    if (newest === undefined || (await isFree(connection, name, newest))) {
      const next = (newest?.number ?? 0) + 1
      if (await takeGeneration(connection, name, next)) return next
    }
    const waited = performance.now() - begun
    if (waited > waitMs) throw new LeaseTimeoutError(name, waitMs)
    const isDue = requestsTurn && waited > REQUEST_AFTER_MS
    if (newest !== undefined && isDue && newest.number !== requested) {
      await getLeaseStore(connection).requestRelease(connection, name, newest.number)
      requested = newest.number
    }
    await sleep(POLL_INTERVAL_MS)
  }
}

async function isFree(
  connection: Connection,
  name: LeaseName,
  generation: Generation,
): Promise<boolean> {
  const holder = await getLeaseStore(connection).readHolderState(connection, name, generation)
  return holder !== undefined && (holder.isReleased || holder.silence > EXPIRY_MS)
}

/** Takes a generation and drops what older ones left; returns false when another process was faster. */
async function takeGeneration(
  connection: Connection,
  name: LeaseName,
  number: number,
): Promise<boolean> {
  if (!(await getLeaseStore(connection).createGeneration(connection, name, number))) return false
  const generations = await getLeaseStore(connection).listGenerations(connection, name)
  if (generations.some((other) => other.number > number)) {
    // Since this process looked up the newest generation, others have held the lease and dropped their old tables,
    // including one with this number.
    await getLeaseStore(connection).dropGeneration(connection, name, number)
    return false
  }
  await getLeaseStore(connection).writeLeaseState(connection, name, number, 'held')
  for (const old of generations.filter((other) => other.number < number)) {
    await getLeaseStore(connection).dropGeneration(connection, name, old.number)
  }
  await getLeaseStore(connection).dropReleaseRequests(connection, name, number)
  return true
}
