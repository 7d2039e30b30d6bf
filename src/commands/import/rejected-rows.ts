/** Keeps the rows of a source that were not loaded, and shows the first of them. */
import { open, type FileHandle } from 'node:fs/promises'
import type { Rejection } from '../../ingest/inbox/rejections.js'
import type { ImportSource } from './sources.js'

export interface RejectedRows {
  /** Writes rows to the file, which the first ones make. */
  add(rejections: readonly Rejection[]): Promise<void>
  /** The file, if there is one. */
  close(): Promise<string | undefined>
}

/** So many reasons are shown; all are in the file. */
const SHOWN = 5

/** @param writesNothing shows them only: there is no file. */
export function keepRejected(
  { name, rejectedFile }: ImportSource,
  note: (text: string) => void,
  { writesNothing = false }: { readonly writesNothing?: boolean } = {},
): RejectedRows {
  let handle: FileHandle | undefined
  let count = 0
  return {
    async add(rejections) {
      if (!writesNothing) handle ??= await open(rejectedFile, 'w')
      for (const { row, reason } of rejections.slice(0, Math.max(0, SHOWN - count))) {
        note(`${name}: row ${row} is rejected: ${reason}`)
      }
      if (count <= SHOWN && count + rejections.length > SHOWN) {
        note(`${name}: more rows are rejected${writesNothing ? '' : `, see ${rejectedFile}`}`)
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
