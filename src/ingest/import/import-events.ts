/** Imports events: puts a stream of lines into the inbox piece by piece, and loads each. */
import type { Connection } from '../../clickhouse/connection.js'
import type { Store } from '../../clickhouse/store.js'
import { findProject } from '../../projects/store.js'
import { dropBatch, insertBatch } from '../inbox/batches.js'
import { readLines, type Lines } from './lines.js'
import { loadBatch, resumeLoads } from '../loader/loader.js'
import { findLoad, type FinishedLoad } from '../loader/load-log.js'
import { addReports, EMPTY_REPORT, type LoadReport } from '../loader/load-report.js'
import type { LoaderContext } from '../loader/loader-context.js'
import { countAffected, type Affected } from '../loader/affected.js'
import { nameAgain, onlyRows, openChunks, type Chunk } from './chunks.js'
import { takeRejections, type Rejection } from '../inbox/rejections.js'
import { dryRunImport } from './dry-run.js'
import { withLoaderLease } from '../loader/with-loader-lease.js'

export type { Rejection } from '../inbox/rejections.js'

export interface ImportOptions {
  /** The project of all rows; where it is left out each row names its own. */
  readonly projectId?: string
  /** How the lines were made from the source: the same lines made otherwise are others. */
  readonly identity?: string
  /** Stops at the first piece that holds a rejected row, and loads nothing of that piece. */
  readonly strict?: boolean
  /** Reads, derives and reports as if it loaded; nothing of it stays. */
  readonly dryRun?: boolean
  /** When the events arrive. */
  readonly now: Date
  readonly loader: LoaderContext
  /** Bytes that are loaded at once, at most. */
  readonly chunkSize?: number
  /** Is given the rejected rows of each piece as it is loaded. */
  readonly onRejected: (rejections: readonly Rejection[]) => Promise<void> | void
  /** Is told the name of each batch, also of those loaded before: `countTouched` counts their users. */
  readonly onBatch?: (batch: string) => void
  /** Is told after each piece what has been done so far. */
  readonly onProgress?: (soFar: LoadReport) => void
}

/** What became of all rows, and how many users and sessions their events are of. */
export type ImportReport = LoadReport & Affected

/** Bytes that are loaded at once: enough for a load's fixed costs to vanish, little beside the memory. */
const PIECE = 64 * 1024 * 1024

/**
 * Imports one source of lines, each a JSON object. What it brings is visible to queries when this returns.
 * A blank line is passed over; a line `\x15<reason>\x1f<row>` is a row that was found unfit before.
 *
 * What was loaded before, by an import that was broken off or of a source that has grown since, is not
 * loaded again: its events are counted as duplicates. Its rows that were rejected are tried again.
 */
export async function importEvents(
  store: Store,
  source: AsyncIterable<Buffer>,
  options: ImportOptions,
): Promise<ImportReport> {
  const {
    projectId = '',
    identity = '',
    chunkSize = PIECE,
    strict = false,
    dryRun = false,
  } = options
  if (dryRun) return dryRunImport(store, source, { ...options, chunkSize })
  const { writer } = store
  const project = await findProject(writer, projectId)
  const pieces = openChunks(writer, [projectId, project?.token ?? '', identity])
  const reader = readLines(source)
  const batches: string[] = []
  let total = EMPTY_REPORT
  try {
    await withLoaderLease(writer, (holder) => resumeLoads(holder, options.loader))
    for (;;) {
      const piece = await pieces.next(reader, chunkSize)
      if (piece === undefined) break
      const report = await importPiece(writer, piece, batches, options)
      total = addReports(total, report)
      options.onProgress?.(total)
      if (strict && report.rejected > 0) break
    }
  } finally {
    await reader.close()
  }
  for (const batch of batches) options.onBatch?.(batch)
  return { ...total, ...(await countAffected(writer, batches, total)) }
}

/** Loads what is left of a piece; `batches` gets the names of its batches, those of before among them. */
async function importPiece(
  writer: Connection,
  { batch, lines, loads }: Chunk,
  batches: string[],
  options: ImportOptions,
): Promise<LoadReport> {
  batches.push(...loads.map(({ load }) => load.batch))
  const before = loads.map(asDuplicates).reduce(addReports, EMPTY_REPORT)
  const left = loads.at(-1)?.rowsLeft
  if (left?.length === 0) return before
  const name = nameAgain(batch, loads.length)
  batches.push(name)
  const report = await loadLines(
    writer,
    name,
    left === undefined ? lines : onlyRows(lines, left),
    options,
  )
  if (report.rejected > 0) await options.onRejected(await takeRejections(writer, name))
  return addReports(before, report)
}

/** What a load of before is now: its events have come again; its rejected rows are told of anew. */
function asDuplicates({ report, rowsLeft }: FinishedLoad): LoadReport {
  const { received, events, duplicates } = report
  if (rowsLeft.length === received) return EMPTY_REPORT
  return {
    ...report,
    received: received - rowsLeft.length,
    events: 0,
    duplicates: events + duplicates,
    rejected: 0,
  }
}

async function loadLines(
  writer: Connection,
  batch: string,
  { bytes, firstRow }: Lines,
  { projectId = '', strict = false, now, loader }: ImportOptions,
): Promise<LoadReport> {
  return withLoaderLease(writer, async (holder) => {
    const done = await findLoad(holder, batch)
    // Another import of the same source was quicker.
    if (done !== undefined) return asDuplicates(done)
    // One that was killed may have put it there.
    await dropBatch(holder, batch)
    await insertBatch(holder, { batch, projectId, firstRow, bytes, now, strict })
    return loadBatch(holder, batch, loader)
  })
}
