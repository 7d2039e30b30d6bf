/** Hands the parts of a stream to consumers that read at their own pace, with a limit of what waits for each. */

export interface FanOut {
  /** One stream per consumer, each to be read once. A consumer that stops early no longer holds up the others. */
  readonly streams: readonly AsyncIterableIterator<Buffer>[]
  /** Ends all streams, without what waits in them, and closes the source. */
  readonly close: () => Promise<void>
}

/** What one consumer has not read yet. */
interface Queue {
  readonly waiting: Buffer[]
  bytes: number
  isClosed: boolean
}

/**
 * Creates the streams. A consumer that needs more reads the source for all, unless another has `maxWaiting` bytes waiting: it
 * then waits until that one reads. So no consumer may wait for another in between.
 *
 * @param source yields one buffer per consumer. Its error is thrown to all, behind what was read before.
 * @param maxWaiting in bytes
 */
export function fanOut(
  source: AsyncGenerator<readonly Buffer[]>,
  count: number,
  maxWaiting: number,
): FanOut {
  const queues = Array.from({ length: count }, createQueue)
  const room = createSignal()
  const readOn = createReader(source, queues, async () => {
    while (queues.some(({ bytes }) => bytes >= maxWaiting)) await room.wait()
  })

  async function take(queue: Queue): Promise<IteratorResult<Buffer>> {
    for (;;) {
      const block = queue.waiting.shift()
      if (block !== undefined) {
        queue.bytes -= block.length
        room.give()
        return { done: false, value: block }
      }
      if (queue.isClosed || !(await readOn())) return { done: true, value: undefined }
    }
  }

  async function close(queue: Queue): Promise<void> {
    queue.isClosed = true
    queue.waiting.length = 0
    queue.bytes = 0
    room.give()
    if (queues.every(({ isClosed }) => isClosed)) await source.return(undefined)
  }

  return {
    streams: queues.map((queue) =>
      createStream(
        () => take(queue),
        () => close(queue),
      ),
    ),
    close: async () => {
      await Promise.all(queues.map(close))
    },
  }
}

const createQueue = (): Queue => ({ waiting: [], bytes: 0, isClosed: false })

/**
 * Creates the function that reads the source once for all who ask meanwhile, and returns whether it had more. At the end, and
 * after an error, it always has the same outcome.
 */
function createReader(
  source: AsyncGenerator<readonly Buffer[]>,
  queues: readonly Queue[],
  waitForRoom: () => Promise<void>,
): () => Promise<boolean> {
  let reading: Promise<boolean> | undefined
  async function read(): Promise<boolean> {
    await waitForRoom()
    const next = await source.next()
    if (next.done === true) return false
    next.value.forEach((block, i) => add(queues[i], block))
    reading = undefined
    return true
  }
  return () => (reading ??= read())
}

function add(queue: Queue | undefined, block: Buffer): void {
  if (queue === undefined || queue.isClosed || block.length === 0) return
  queue.waiting.push(block)
  queue.bytes += block.length
}

const createStream = (
  next: () => Promise<IteratorResult<Buffer>>,
  close: () => Promise<void>,
): AsyncIterableIterator<Buffer> => ({
  next,
  return: async () => {
    await close()
    return { done: true, value: undefined }
  },
  [Symbol.asyncIterator]() {
    return this
  },
})

/** Creates a signal: `wait` resolves with the next `give`. */
function createSignal() {
  let resolve: () => void = () => undefined
  let next = new Promise<void>((go) => (resolve = go))
  return {
    wait: (): Promise<void> => next,
    give: (): void => {
      resolve()
      next = new Promise((go) => (resolve = go))
    },
  }
}
