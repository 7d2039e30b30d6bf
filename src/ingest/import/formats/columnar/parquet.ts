/** Finds what a Parquet file says of its columns: it stands last, so the whole is kept in a file. */
import { randomUUID } from 'node:crypto'
import { open, rm, type FileHandle } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { sql } from '../../../../clickhouse/sql.js'
import { SourceError } from '../format.js'
import type { Peeked } from '../peek.js'
import type { Description } from './columns.js'

const MARK = Buffer.from('PAR1')
/** At the end: the length of the description, and the mark. */
const TAIL = 8

export async function describeParquet({ stream }: Peeked): Promise<Description> {
  const handle = await openUnnamed()
  const close = (): Promise<void> => handle.close()
  try {
    for await (const chunk of stream) await handle.appendFile(chunk)
    const bytes = Buffer.concat([MARK, await readEnd(handle)])
    return { bytes, format: sql`Parquet`, stream: contentOf(handle), close }
  } catch (error) {
    await close()
    throw error
  }
}

/** A file that goes away when it is closed, however this process ends. */
async function openUnnamed(): Promise<FileHandle> {
  const name = path.join(os.tmpdir(), `tallyhouse-${randomUUID()}.parquet`)
  const handle = await open(name, 'wx+', 0o600)
  await rm(name)
  return handle
}

/** The description with its length and the mark behind it. */
async function readEnd(handle: FileHandle): Promise<Buffer> {
  const { size } = await handle.stat()
  const read = async (length: number): Promise<Buffer> =>
    (await handle.read(Buffer.alloc(length), 0, length, size - length)).buffer
  if (size < MARK.length + TAIL) throw new SourceError('is not Parquet, or cut short')
  const tail = await read(TAIL)
  const length = TAIL + tail.readUInt32LE(0)
  if (!tail.subarray(4).equals(MARK) || length + MARK.length > size) {
    throw new SourceError('is not Parquet, or cut short')
  }
  return read(length)
}

async function* contentOf(handle: FileHandle): AsyncGenerator<Buffer> {
  try {
    const content = handle.createReadStream({ start: 0, autoClose: false })
    yield* content as AsyncIterable<Buffer>
  } finally {
    await handle.close()
  }
}
