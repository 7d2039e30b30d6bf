/** Looks at the first bytes of a stream without taking them out of it. */

export interface Peeked {
  /** So many bytes as were asked for, or more; fewer where the stream is shorter. */
  readonly head: Buffer
  /** Whether the head is all there is. */
  readonly isWhole: boolean
  /** The stream from its start; to be read once. Ends its source when it is read no further. */
  readonly stream: AsyncGenerator<Buffer>
  /** Ends the source of a stream that is not read at all. */
  readonly close: () => Promise<void>
}

export async function peek(source: AsyncIterable<Buffer>, size: number): Promise<Peeked> {
  const chunks = source[Symbol.asyncIterator]()
  const close = async (): Promise<void> => {
    await chunks.return?.()
  }
  let head = Buffer.alloc(0)
  let isWhole = false
  while (head.length < size && !isWhole) {
    const next = await chunks.next()
    if (next.done === true) isWhole = true
    else head = Buffer.concat([head, next.value])
  }
  return { head, isWhole, stream: fromStart(head, chunks, close), close }
}

async function* fromStart(
  head: Buffer,
  rest: AsyncIterator<Buffer>,
  close: () => Promise<void>,
): AsyncGenerator<Buffer> {
  try {
    if (head.length > 0) yield head
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
      yield next.value
    }
  } finally {
    await close()
  }
}
