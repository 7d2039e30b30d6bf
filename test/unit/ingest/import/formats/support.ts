/** Reads text of any format as the import does. */
import type { Connection } from '../../../../../src/clickhouse/connection.js'
import { openRows, type OpenOptions } from '../../../../../src/ingest/import/open-rows.js'

/** Splits bytes into chunks of a size. */
export async function* chunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) {
    yield await Promise.resolve(bytes.subarray(at, at + size))
  }
}

/** No text format uses the store. */
const NO_STORE = {} as Connection

export interface Read {
  readonly format: string
  readonly identity: string
  readonly lines: readonly string[]
  readonly skipped: number
}

/** Converts a text to lines; it arrives in chunks of `size` bytes. */
export async function readText(
  text: string | Buffer,
  options: Omit<OpenOptions, 'writer'> = {},
  size = 7,
): Promise<Read> {
  const source = chunks(Buffer.from(text), size)
  const opened = await openRows(source, {
    ...options,
    writer: NO_STORE,
  })
  const read: Buffer[] = []
  for await (const bytes of opened.rows) read.push(bytes)
  const lines = Buffer.concat(read).toString().split('\n')
  if (lines.at(-1) === '') lines.pop()
  const { format, identity } = opened
  return { format, identity, lines, skipped: opened.skipped() }
}

/** Returns the line of an invalid row. */
export const invalidLine = (reason: string, row: string): string => `\x15${reason}\x1f${row}`
