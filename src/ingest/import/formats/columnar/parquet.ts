/** Describes the columns of a Parquet file by its metadata. That comes last, so the source is copied to a file. */
import { randomUUID } from 'node:crypto'
import { open, rm, type FileHandle } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { sql } from '../../../../clickhouse/sql.js'
import type { Peeked } from '../byte-stream.js'
import { SourceError } from '../format.js'
import type { FileDescription } from './columns.js'

const MAGIC = Buffer.from('PAR1')
/** At the end of a file: the length of the metadata, and the magic, four bytes each. */
const TAIL_BYTES = 8

/**
 * Copies the source to a file and reads its metadata.
 *
 * @throws SourceError if the source is not Parquet
 */
export async function describeParquet({ stream }: Peeked): Promise<FileDescription> {
  const handle = await openUnlinkedFile()
  const close = (): Promise<void> => handle.close()
  try {
    for await (const chunk of stream) await handle.appendFile(chunk)
    const bytes = Buffer.concat([MAGIC, await readMetadata(handle)])
    return { bytes, format: sql`Parquet`, stream: readContent(handle), close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Opens a temporary file that is already unlinked, so it disappears even if this process is killed. */
async function openUnlinkedFile(): Promise<FileHandle> {
  const name = path.join(os.tmpdir(), `tallyhouse-${randomUUID()}.parquet`)
  const handle = await open(name, 'wx+', 0o600)
  await rm(name)
  return handle
}

/** Reads the metadata, followed by its length and the magic. */
async function readMetadata(handle: FileHandle): Promise<Buffer> {
  const { size } = await handle.stat()
  const readLast = async (length: number): Promise<Buffer> =>
    (await handle.read(Buffer.alloc(length), 0, length, size - length)).buffer
  if (size < MAGIC.length + TAIL_BYTES) throw new SourceError('is not Parquet, or is cut short')
  const tail = await readLast(TAIL_BYTES)
  const length = TAIL_BYTES + tail.readUInt32LE(0)
  if (!tail.subarray(4).equals(MAGIC) || length + MAGIC.length > size) {
    throw new SourceError('is not Parquet, or is cut short')
  }
  return readLast(length)
}

async function* readContent(handle: FileHandle): AsyncGenerator<Buffer> {
  try {
    const content = handle.createReadStream({ start: 0, autoClose: false })
    yield* content as AsyncIterable<Buffer>
  } finally {
    await handle.close()
  }
}
