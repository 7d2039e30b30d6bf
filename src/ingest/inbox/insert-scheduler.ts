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

interface Schedulable extends Sized {
  /** Whether the request no longer waits for the write; the write is then left out of its insert. */
  readonly isSettled: () => boolean
}

/** The front of a queue, and what remains behind it. */
interface Group<Write> {
  readonly group: readonly Write[]
  readonly rest: Write[]
}

/** Takes writes from the front of the queue while they have at most `maxBytes` together; at least one. */
export function takeGroup<Write extends Sized>(
  queue: readonly Write[],
  maxBytes: number,
): Group<Write> {
  let bytes = 0
  const end = queue.findIndex((write, i) => (bytes += write.bytes) > maxBytes && i > 0)
  return end === -1
    ? { group: queue, rest: [] }
    : { group: queue.slice(0, end), rest: queue.slice(end) }
}

/**
 * Returns a function that queues a write. Writes that arrive while others are being inserted form the next insert.
 *
 * @param insert inserts a group; must not reject
 */
export function createInsertScheduler<Write extends Schedulable>(
  insert: (group: readonly Write[]) => Promise<void>,
  { maxInsertBytes, maxInserts, intervalMs }: InsertLimits,
): (write: Write) => void {
  let queue: Write[] = []
  let queuedBytes = 0
  let running = 0
  let lastStart = -Infinity
  let timer: NodeJS.Timeout | undefined

  function startInserts(): void {
    while (queue.length > 0 && running < maxInserts && timer === undefined) {
      const isFull = queuedBytes >= maxInsertBytes
      const waitMs = isFull ? 0 : lastStart + intervalMs - performance.now()
      if (waitMs > 0) timer = setTimeout(endWait, waitMs)
      else void runInsert()
    }
  }

  function endWait(): void {
    timer = undefined
    startInserts()
  }

  async function runInsert(): Promise<void> {
    const { group, rest } = takeGroup(queue, maxInsertBytes)
    queue = rest
    queuedBytes -= group.reduce((sum, { bytes }) => sum + bytes, 0)
    const unsettled = group.filter((write) => !write.isSettled())
    if (unsettled.length === 0) return
    lastStart = performance.now()
    running += 1
    await insert(unsettled)
    running -= 1
    startInserts()
  }

  return (write) => {
    queue.push(write)
    queuedBytes += write.bytes
    startInserts()
  }
}
