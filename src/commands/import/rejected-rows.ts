/** Writes the rejected rows of a source to a file, and shows the first of them. */
import { open, type FileHandle } from 'node:fs/promises'
import type { Rejection } from '../../ingest/inbox/rejections.js'
import type { ImportSource } from './sources.js'

interface RejectedRows {
  /** Appends rows to the file; the first call creates it. */
  add(rejections: readonly Rejection[]): Promise<void>
  /** Closes the file and returns its name; undefined when no row was written. */
  close(): Promise<string | undefined>
}

/** Only the first rows are shown; the file has all of them. */
const MAX_SHOWN = 5

/**
 * Creates the collector of a source's rejected rows.
 *
 * @param options with `writesNothing`, rows are shown but no file is written
 */
export function collectRejectedRows(
  { name, rejectedFile }: ImportSource,
  note: (text: string) => void,
  { writesNothing = false }: { readonly writesNothing?: boolean } = {},
): RejectedRows {
  let handle: FileHandle | undefined
  let count = 0
  return {
    async add(rejections) {
      if (!writesNothing) handle ??= await open(rejectedFile, 'w')
      for (const { row, reason } of rejections.slice(0, Math.max(0, MAX_SHOWN - count))) {
        note(`${name}: row ${row} rejected: ${reason}`)
      }
      if (count <= MAX_SHOWN && count + rejections.length > MAX_SHOWN) {
        note(`${name}: more rows rejected${writesNothing ? '' : `, see ${rejectedFile}`}`)
      }
      count += rejections.length
      await handle?.appendFile(rejections.map((row) => `${JSON.stringify(row)}\n`).join(''))
    },
    async close() {
      await handle?.close()
      return handle && rejectedFile
    },
  }
}
