/** Names a piece of a source by its bytes and what came before them. */
import { createHash } from 'node:crypto'

/** Some bytes, from where a piece begins. */
interface Part {
  readonly length: number
  readonly print: string
}

export interface PieceName {
  /** The name of the first batch of the piece. */
  readonly batch: string
  readonly whole: Part
  /** All lines but the last; of length 0 where there is no other. */
  readonly body: Part
}

const NEWLINE = 10

/** Tells bytes apart, and what came before them. */
export const fingerprint = (before: string, bytes: Buffer): string =>
  printsOf(before, bytes, [bytes.length]).get(bytes.length) ?? ''

/** The fingerprints of the first bytes, of each number of them that there are. */
export function printsOf(
  before: string,
  bytes: Buffer,
  lengths: readonly number[],
): ReadonlyMap<number, string> {
  const hash = createHash('sha256').update(before)
  const prints = new Map<number, string>()
  let at = 0
  for (const length of [...new Set(lengths)].sort((a, b) => a - b)) {
    if (length > bytes.length) break
    hash.update(bytes.subarray(at, length))
    prints.set(length, hash.copy().digest('hex').slice(0, 32))
    at = length
  }
  return prints
}

export function nameOf(before: string, bytes: Buffer): string {
  const body = bytes.subarray(0, -1).lastIndexOf(NEWLINE) + 1
  const prints = printsOf(before, bytes, [body, bytes.length])
  const parts = [bytes.length, body].map((length) => `${length}-${prints.get(length) ?? ''}`)
  return `import-${before}-${parts.join('-')}`
}

/** What the name of a batch of a piece tells, whichever of its batches that is. */
export function partsOf(name: string): PieceName {
  const batch = name.replace(/\++$/, '')
  const [, , length, print = '', bodyLength, bodyPrint = ''] = batch.split('-')
  return {
    batch,
    whole: { length: Number(length), print },
    body: { length: Number(bodyLength), print: bodyPrint },
  }
}
