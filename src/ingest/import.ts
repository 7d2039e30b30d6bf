/** Imports events: puts a stream of NDJSON into the inbox piece by piece, and loads each. */
import { randomUUID } from 'node:crypto'
import { withLease } from '../clickhouse/lease.js'
import { whileHeld } from '../clickhouse/while-held.js'
import { sql, statement, string } from '../clickhouse/sql.js'
import type { Store } from '../clickhouse/store.js'
import { putBatch } from './inbox.js'
import { cutLines } from './lines.js'
import { loadBatch, resumeLoads } from './loader/load.js'
import { addReports, NOTHING, type LoadReport } from './loader/log.js'
import { unpack } from './unpack.js'

/** A row that was not loaded. */
export interface Rejection {
  /** Its line in the source, counted from 1. */
  readonly row: number
  readonly reason: string
  readonly line: string
}

export interface ImportOptions {
  /** The project of all rows; where it is left out each row names its own. */
  readonly projectId?: string
  /** Stops at the first piece that holds a rejected row, and loads nothing of that piece. */
  readonly strict?: boolean
  /** Bytes that are loaded at once, about. */
  readonly pieceSize?: number
  /** Is given the rejected rows of each piece as it is loaded. */
  readonly onRejected: (rejections: readonly Rejection[]) => Promise<void> | void
  /** Is told after each piece what has been done so far. */
  readonly onProgress?: (soFar: LoadReport) => void
}

/** Bytes that are loaded at once: enough for a load's fixed costs to vanish, little beside the memory. */
const PIECE = 64 * 1024 * 1024

/**
 * Imports one source, plain or gzip'd. What it brings is visible to queries when this returns.
 *
 * @returns what became of all rows
 */
export async function importEvents(
  { writer }: Store,
  source: AsyncIterable<Buffer>,
  { projectId = '', strict = false, pieceSize = PIECE, onRejected, onProgress }: ImportOptions,
): Promise<LoadReport> {
  const name = `import-${randomUUID()}`
  let total = NOTHING
  for await (const { bytes, firstRow } of cutLines(unpack(source), pieceSize)) {
    const batch = `${name}-${firstRow}`
    await putBatch(writer, { batch, projectId, firstRow, bytes, strict })
    const report = await withLease(writer, 'loader', async ({ signal }) => {
      const holder = whileHeld(writer, signal)
      // What an earlier import left comes first, if it was ended in the middle.
      if (firstRow === 1) await resumeLoads(holder)
      return loadBatch(holder, batch)
    })
    total = addReports(total, report)
    onProgress?.(total)
    if (report.rejected > 0) {
      await onRejected(await takeRejections(writer, batch))
      if (strict) break
    }
  }
  return total
}

/** The rejections of a batch; who takes them keeps them, the store does not. */
async function takeRejections(
  writer: Store['writer'],
  batch: string,
): Promise<readonly Rejection[]> {
  const { rows } = await writer.query<Rejection>(
    statement(
      sql`SELECT row, reason, line FROM rejections WHERE batch = ${string(batch)} ORDER BY row`,
    ),
  )
  await writer.execute(statement(sql`ALTER TABLE rejections DROP PARTITION ${string(batch)}`))
  return rows
}
