/** Groups queued writes into few inserts, because an insert costs the store the same whatever its size. */

export interface InsertLimits {
  /** The most bytes of one insert; a write that has more is an insert of its own. */
  readonly maxInsertBytes: number
  /** The most inserts that run at a time. */
  readonly maxInserts: number
  /** Milliseconds from the start of one insert to the start of the next, unless the next is full. */
  readonly intervalMs: number
}

interface Sized {
  readonly bytes: number
}

interface InsertScheduler<Write> {
  /** Queues a write. Writes that arrive while others are being inserted form the next insert. */
  readonly enqueue: (write: Write) => void
  /** Takes a write that no request waits for out of the queue. One that is being inserted stays. */
  readonly remove: (write: Write) => void
  /** The bytes of all writes that are queued or being inserted. */
  readonly countBytes: () => number
}

/** Takes writes from the front of the queue while they have at most `maxBytes` together; at least one. */
export function takeGroup<Write extends Sized>(
  queue: Iterable<Write>,
  maxBytes: number,
): readonly Write[] {
  const group: Write[] = []
  let bytes = 0
  for (const write of queue) {
    bytes += write.bytes
    if (bytes > maxBytes && group.length > 0) break
    group.push(write)
  }
  return group
}

const sumBytes = (writes: readonly Sized[]): number =>
  writes.reduce((sum, { bytes }) => sum + bytes, 0)

/**
 * Creates a scheduler.
 *
 * @param insert inserts a group; must not reject
 */
export function createInsertScheduler<Write extends Sized>(
  insert: (group: readonly Write[]) => Promise<void>,
  { maxInsertBytes, maxInserts, intervalMs }: InsertLimits,
): InsertScheduler<Write> {
  const queue = new Set<Write>()
  let [queuedBytes, runningBytes, running] = [0, 0, 0]
  let lastStart = -Infinity
  let timer: NodeJS.Timeout | undefined

  function startInserts(): void {
    while (queue.size > 0 && running < maxInserts && timer === undefined) {
      const isFull = queuedBytes >= maxInsertBytes
      const waitMs = isFull ? 0 : lastStart + intervalMs - performance.now()
      if (waitMs > 0) timer = setTimeout(endWait, waitMs)
      else void runInsert()
    }
  }

  const remove = (write: Write): void => {
    if (queue.delete(write)) queuedBytes -= write.bytes
  }
  const endWait = (): void => {
    timer = undefined
    startInserts()
  }

  async function runInsert(): Promise<void> {
    const group = takeGroup(queue, maxInsertBytes)
    group.forEach(remove)
    const bytes = sumBytes(group)
    lastStart = performance.now()
    running += 1
    runningBytes += bytes
    await insert(group)
    running -= 1
    runningBytes -= bytes
    startInserts()
  }

  return {
    enqueue: (write) => {
      queue.add(write)
      queuedBytes += write.bytes
      startInserts()
    },
    remove,
    countBytes: () => queuedBytes + runningBytes,
  }
}
