/**
 * Lets work of one process share a lease: what comes while the process holds it runs under it. Work on different things runs at the
 * same time, work on one thing one after another.
 */
import { SECOND_MS } from '../../lib/time.js'
import type { Connection } from '../connection.js'
import { acquireLease } from './lease.js'
import type { LeaseName } from './lease-store.js'

/** Work that waits for its turn. */
interface Waiting {
  /** What it works on. */
  readonly subject: string
  /** Never rejects. */
  readonly run: () => Promise<void>
  readonly reject: (error: unknown) => void
}

/** Other processes wait no longer for one that has much work. */
const MAX_HOLD_MS = SECOND_MS

/** The work of each connection that waits for a lease, or for a turn under it. */
const queues = new WeakMap<Connection, Map<LeaseName, Waiting[]>>()

/**
 * Waits for the lease, runs `work`, and releases the lease once no more work of this process waits for it, or after a second. Taking
 * a lease takes several statements, which many short works then share.
 *
 * @param subject what `work` changes: no other work on it runs at the same time
 * @throws LeaseTimeoutError when the lease does not become free within a minute
 */
export function withJoinedLease<Result>(
  connection: Connection,
  name: LeaseName,
  subject: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const byName = queues.get(connection) ?? new Map<LeaseName, Waiting[]>()
  queues.set(connection, byName)
  return new Promise((resolve, reject) => {
    const waiting = { subject, run: () => work().then(resolve, reject), reject }
    const queue = byName.get(name)
    if (queue === undefined) {
      byName.set(name, [waiting])
      void drain(connection, name, byName)
    } else {
      queue.push(waiting)
    }
  })
}

/** Runs the work that waits, until there is none. */
async function drain(
  connection: Connection,
  name: LeaseName,
  byName: Map<LeaseName, Waiting[]>,
): Promise<void> {
  const queue = byName.get(name) ?? []
  while (queue.length > 0) {
    try {
      await runUnderLease(connection, name, queue)
    } catch (error) {
      for (const { reject } of queue.splice(0)) reject(error)
    }
  }
  byName.delete(name)
}

async function runUnderLease(
  connection: Connection,
  name: LeaseName,
  queue: Waiting[],
): Promise<void> {
  const lease = await acquireLease(connection, name)
  const begun = performance.now()
  try {
    while (queue.length > 0 && performance.now() - begun < MAX_HOLD_MS) {
      lease.signal.throwIfAborted()
      await Promise.all(takeOneOfEach(queue).map(({ run }) => run()))
    }
  } finally {
    await lease.release()
  }
}

/** Takes what waits longest of the work on each thing. */
function takeOneOfEach(queue: Waiting[]): readonly Waiting[] {
  const first = new Map<string, Waiting>()
  for (const waiting of queue) {
    if (!first.has(waiting.subject)) first.set(waiting.subject, waiting)
  }
  queue.splice(0, queue.length, ...queue.filter((one) => first.get(one.subject) !== one))
  return [...first.values()]
}
