/** Files that any process may need: what was uploaded to be imported, and what imports rejected. They are stored at home, in pieces. */
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Connection } from '../clickhouse/connection.js'
import { isDiskFull } from '../clickhouse/errors.js'
import { sql, statement, string, uint32 } from '../clickhouse/sql.js'
import type { Store } from '../clickhouse/store.js'
import { requireSpace, StoreFullError } from '../ingest/inbox/disk-space.js'
import { ONE_BLOCK } from '../ingest/inbox/one-block.js'
import { randomId } from '../lib/random-id.js'

type FileKind = 'upload' | 'rejected'

const PIECE_BYTES = 1024 ** 2
/** How many pieces are read at once. */
const PAGE = 4
/** After how many pieces the space of the disk is looked at again. */
const SPACE_PIECES = 16

export interface NewFile {
  readonly id: string
  /** Resolves when the file may grow further. No more than a piece of it is in memory. */
  readonly write: (bytes: Buffer) => Promise<void>
  /** Stores what is left. */
  readonly end: () => Promise<void>
}

/** Opens a new file, which is stored while it is written. It is deleted after 7 days, or with its project. */
export function createFile(writer: Connection, kind: FileKind, projectId: string): NewFile {
  const id = randomId('file_', 20)
  let waiting: Buffer[] = []
  let length = 0
  let number = 0

  async function storePiece(bytes: Buffer): Promise<void> {
    await writer.upload(
      statement(sql`
INSERT INTO uploads (id, kind, project_id, number, bytes)
SELECT ${string(id)}, ${string(kind)}, ${string(projectId)}, ${uint32(number)}, bytes
FROM input('bytes String') FORMAT RawBLOB`),
      Readable.from([bytes]),
      ONE_BLOCK,
    )
    number += 1
  }

  async function storeWaiting(): Promise<void> {
    const all = Buffer.concat(waiting)
    waiting = []
    length = 0
    for (let at = 0; at < all.length; at += PIECE_BYTES) {
      await storePiece(all.subarray(at, at + PIECE_BYTES))
    }
  }

  return {
    id,
    write: async (bytes) => {
      waiting.push(bytes)
      length += bytes.length
      if (length >= PIECE_BYTES) await storeWaiting()
    },
    end: storeWaiting,
  }
}

export interface StoredUpload {
  readonly id: string
  readonly bytes: number
  /** In hex. */
  readonly sha256: string
}

/**
 * Stores an upload. One that fails on its way leaves nothing.
 *
 * @throws StoreFullError when the disk is full, or almost; and what reading the source throws
 */
export async function storeUpload(
  store: Store,
  projectId: string,
  source: AsyncIterable<Buffer>,
): Promise<StoredUpload> {
  const { writer } = store
  const file = createFile(writer, 'upload', projectId)
  const hash = createHash('sha256')
  let bytes = 0
  let checkedAt = -Infinity
  try {
    for await (const chunk of source) {
      if (bytes - checkedAt >= SPACE_PIECES * PIECE_BYTES) {
        await requireSpace(store)
        checkedAt = bytes
      }
      hash.update(chunk)
      bytes += chunk.length
      await file.write(chunk)
    }
    await file.end()
  } catch (error) {
    await dropUpload(writer, file.id).catch(() => undefined)
    throw isDiskFull(error) ? new StoreFullError(error) : error
  }
  return { id: file.id, bytes, sha256: hash.digest('hex') }
}

/** Yields the bytes of a file; none of one that is not stored any more. */
export async function* readFile(writer: Connection, id: string): AsyncGenerator<Buffer> {
  for (let from = 0; ; from += PAGE) {
    const { rows } = await writer.query<{ bytes: string }>(
      statement(sql`
SELECT base64Encode(bytes) AS bytes FROM uploads
WHERE id = ${string(id)} AND number >= ${uint32(from)} AND number < ${uint32(from + PAGE)} ORDER BY number`),
    )
    for (const { bytes } of rows) yield Buffer.from(bytes, 'base64')
    if (rows.length < PAGE) return
  }
}

/** Deletes an upload, and frees its space. */
export const dropUpload = (writer: Connection, id: string): Promise<void> =>
  writer.execute(statement(sql`ALTER TABLE uploads DROP PARTITION ${string(id)}`))

/** Deletes the rejected rows of an import. */
export const dropRejected = (writer: Connection, id: string): Promise<void> =>
  writer.execute(statement(sql`DELETE FROM uploads WHERE id = ${string(id)}`))
