/** Imports events: inserts a stream of lines into the inbox chunk by chunk, and loads each chunk. */
import type { Connection } from '../../clickhouse/connection.js'
import type { Store } from '../../clickhouse/store.js'
import { findProject } from '../../projects/store.js'
import { isDiskFull } from '../../clickhouse/errors.js'
import { dropBatch, insertBatch } from '../inbox/batches.js'
import { requireSpace, StoreFullError } from '../inbox/disk-space.js'
import { takeRejections } from '../inbox/rejections.js'
import { countAffected } from '../loader/affected.js'
import { findLoad, type FinishedLoad } from '../loader/load-log.js'
import { addReports, EMPTY_REPORT, type LoadReport } from '../loader/load-report.js'
import { loadBatch, resumeLoads } from '../loader/loader.js'
import { MAX_LOAD, SHRINK_FACTOR } from '../loader/next-rows.js'
import { UnloadableError } from '../loader/unloadable.js'
import { withLoaderLease } from '../loader/with-loader-lease.js'
import { nameRetry } from './chunk-id.js'
import { openChunks, type Chunk } from './chunks.js'
import { dryRunImport } from './dry-run.js'
import type { ImportOptions, ImportReport } from './import-options.js'
import {
  addTexts,
  areBlank,
  blankOtherRows,
  createLineReader,
  type LineReader,
  type Lines,
} from './lines.js'
import { resolveTimestamps } from './timestamps/resolve-timestamps.js'

/**
 * Imports one source of lines, each a JSON object, a blank line, or a line marked as invalid (see
 * `inbox/line-marks.ts`). Its events are visible to queries when this returns.
 *
 * Chunks that were loaded before, by an interrupted import or from a source that has grown since, are not loaded
 * again: their events count as duplicates. Their rejected rows are tried again.
 *
 * @throws LineTooLongError if a line exceeds `chunkSize`; StoreFullError when the disk of the store is full, or almost
 */
export async function importEvents(
  store: Store,
  source: AsyncIterable<Buffer>,
  options: ImportOptions,
): Promise<ImportReport> {
  const {
    projectId = '',
    identity = '',
    chunkSize = MAX_LOAD.bytes,
    strict = false,
    dryRun = false,
    part,
  } = options
  if (dryRun) return dryRunImport(store, source, { ...options, chunkSize })
  const { writer } = store
  const project = await findProject(writer, projectId)
  const chunks = openChunks(writer, [projectId, project?.token ?? '', identity])
  const reader = createLineReader(source, part === undefined)
  const batches: string[] = []
  const limits = { ...MAX_LOAD, bytes: chunkSize }
  let maxRows = limits.rows
  let total = EMPTY_REPORT
  try {
    await withLoaderLease(writer, (holder) => resumeLoads(holder, options.loader))
    for (;;) {
      const chunk = await chunks.next(reader, { ...limits, rows: maxRows })
      if (chunk === undefined || options.stop?.aborted === true) break
      if (part !== undefined && (await isRest(reader, chunk))) break
      await requireSpace(store)
      const report = await importChunk(writer, chunk, batches, options)
      if (report === undefined) {
        chunks.putBack(reader, chunk)
        maxRows = Math.ceil(Math.min(maxRows, chunk.lines.rows) / SHRINK_FACTOR)
        continue
      }
      maxRows = Math.min(limits.rows, maxRows * SHRINK_FACTOR)
      total = addReports(total, report)
      options.onProgress?.(total)
      await part?.onRow(reader.row)
      if (strict && report.rejected > 0) break
    }
  } catch (error) {
    throw isDiskFull(error) ? new StoreFullError(error) : error
  } finally {
    await reader.close()
  }
  for (const batch of batches) options.onBatch?.(batch)
  return { ...total, ...(await countAffected(writer, batches, total)) }
}

/** Returns whether a chunk ends its part without rows, so that there is nothing to load. */
const isRest = async (reader: LineReader, { lines, loads }: Chunk): Promise<boolean> =>
  loads.length === 0 && areBlank(lines) && (await reader.peek(1)).length === 0

/**
 * Loads the rows of a chunk that are not loaded yet. Adds the names of all its batches to `batches`. Returns undefined for a
 * new chunk that the store cannot load as a whole.
 */
async function importChunk(
  writer: Connection,
  { batch, lines, loads }: Chunk,
  batches: string[],
  options: ImportOptions,
): Promise<LoadReport | undefined> {
  batches.push(...loads.map(({ load }) => load.batch))
  const earlier = loads.map((load) => reportEarlier(load, options)).reduce(addReports, EMPTY_REPORT)
  const rowsLeft = loads.at(-1)?.rowsLeft
  if (rowsLeft?.length === 0) return earlier
  const name = nameRetry(batch, loads.length)
  const wanted = rowsLeft === undefined ? lines : blankOtherRows(lines, rowsLeft)
  const report = await loadLines(writer, name, wanted, options).catch((error: unknown) => {
    if (error instanceof UnloadableError && rowsLeft === undefined) return undefined
    throw error
  })
  if (report === undefined) return undefined
  batches.push(name)
  if (report.rejected > 0) {
    await options.onRejected(addTexts(lines, await takeRejections(writer, name)))
  }
  return addReports(earlier, report)
}

/**
 * Returns the report of an earlier load without the rows that are loaded again. Its events are duplicates, unless it is a load of
 * this import.
 */
function reportEarlier(
  { load, report, rowsLeft }: FinishedLoad,
  { firstLoad = Infinity }: Pick<ImportOptions, 'firstLoad'>,
): LoadReport {
  const { received, events, duplicates } = report
  if (rowsLeft.length === received) return EMPTY_REPORT
  const isOwn = load.number >= firstLoad
  return {
    ...report,
    received: received - rowsLeft.length,
    events: isOwn ? events : 0,
    duplicates: isOwn ? duplicates : events + duplicates,
    rejected: 0,
  }
}

/** Loads lines as one batch, unless another import has loaded it already. */
async function loadLines(
  writer: Connection,
  batch: string,
  { bytes, firstRow }: Lines,
  options: ImportOptions,
): Promise<LoadReport> {
  const { projectId = '', strict = false, now, loader } = options
  const resolved = resolveTimestamps(bytes, options)
  return withLoaderLease(writer, async (holder) => {
    const done = await findLoad(holder, batch)
    // Another import of the same source has loaded the batch in the meantime, or a loader what this one had left.
    if (done !== undefined) return reportEarlier(done, options)
    // An import that was killed may have inserted the batch already.
    await dropBatch(holder, batch)
    await insertBatch(holder, { batch, projectId, firstRow, bytes: resolved, now, strict })
    return loadBatch(holder, batch, loader)
  })
}
