/**
 * Builds and parses the ids of chunks. An id identifies a chunk by its bytes and by everything before them in
 * the source: `import-<fingerprint before>-<length>-<fingerprint>-<length>-<fingerprint>`, the first pair for the
 * whole chunk, the second for all lines but the last. Ids are stored in the table `loads` as names of batches, so
 * their text must not change: otherwise sources that were imported before would be loaded again.
 */
import { createHash } from 'node:crypto'
import { NEWLINE } from './formats/byte-stream.js'

/** The first bytes of a chunk. */
interface Prefix {
  /** In bytes. */
  readonly length: number
  readonly fingerprint: string
}

interface ChunkId {
  /** The name of the chunk's first batch. */
  readonly batch: string
  readonly whole: Prefix
  /** All lines but the last; its length is 0 if the chunk has one line. */
  readonly withoutLastLine: Prefix
}

/** Hashes bytes together with the fingerprint of the bytes before them. */
export const computeFingerprint = (before: string, bytes: Buffer): string =>
  fingerprintPrefixes(before, bytes, [bytes.length]).get(bytes.length) ?? ''

/** Returns the fingerprint of each prefix by its length; lengths beyond the end of `bytes` are left out. */
export function fingerprintPrefixes(
  before: string,
  bytes: Buffer,
  lengths: readonly number[],
): ReadonlyMap<number, string> {
  const hash = createHash('sha256').update(before)
  const fingerprints = new Map<number, string>()
  let hashed = 0
  for (const length of [...new Set(lengths)].sort((a, b) => a - b)) {
    if (length > bytes.length) break
    hash.update(bytes.subarray(hashed, length))
    fingerprints.set(length, hash.copy().digest('hex').slice(0, 32))
    hashed = length
  }
  return fingerprints
}

/** Builds the common start of the ids of all chunks that follow the bytes with the fingerprint `before`. */
export const buildIdPrefix = (before: string): string => `import-${before}-`

/** Builds the id of a chunk, which is the name of its first batch. */
export function buildChunkId(before: string, bytes: Buffer): string {
  const withoutLastLine = bytes.subarray(0, -1).lastIndexOf(NEWLINE) + 1
  const fingerprints = fingerprintPrefixes(before, bytes, [withoutLastLine, bytes.length])
  const prefixes = [bytes.length, withoutLastLine].map(
    (length) => `${length}-${fingerprints.get(length) ?? ''}`,
  )
  return buildIdPrefix(before) + prefixes.join('-')
}

/** Names the batch of the rows that earlier loads of a chunk left: its id, and one `+` per earlier load. */
export const nameRetry = (batch: string, loads: number): string => batch + '+'.repeat(loads)

/** Parses the name of any batch of a chunk. */
export function parseChunkId(name: string): ChunkId {
  const batch = name.replace(/\++$/, '')
  const [, , length, fingerprint = '', shorterLength, shorterFingerprint = ''] = batch.split('-')
  return {
    batch,
    whole: { length: Number(length), fingerprint },
    withoutLastLine: { length: Number(shorterLength), fingerprint: shorterFingerprint },
  }
}
