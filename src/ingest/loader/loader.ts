/**
 * Decides which rows are loaded and when, and resumes loads after a crash. Each row of the inbox becomes at most one
 * event, at whatever point a load is interrupted.
 */
import { endLeftChanges } from '../../changes/left-changes.js'
import type { Connection } from '../../clickhouse/connection.js'
import { sql, statement } from '../../clickhouse/sql.js'
import { dropTables } from '../../clickhouse/temporary-tables.js'
import { dropShadowTables } from '../../rollups/shadow-tables.js'
import { dropBatch } from '../inbox/batches.js'
import { findLoad, findUnfinishedLoads, startLoad, STEP } from './load-log.js'
import { addReports, EMPTY_REPORT, type LoadReport } from './load-report.js'
import { takeBatch, type LoadSource } from './load-source.js'
import type { LoaderContext } from './loader-context.js'
import { findNextRows } from './next-rows.js'
import { clearLoad, runLoad } from './run-load.js'
import { emptyStagedTables, LOAD_TABLES } from './steps/shared/load-tables.js'
import { dropLoadedParts, findLastBlock, forgetLostBlocks } from './stream.js'
import { abandonInterruptedLoad, endFailedLoad, isGivenUp, UnloadableError } from './unloadable.js'

/**
 * Loads a batch of the inbox and returns its report. A batch that is loaded already is not loaded again. The
 * caller holds the loader lease.
 *
 * @throws UnloadableError when the store cannot load these rows together; the batch is then no longer in the inbox
 */
export async function loadBatch(
  writer: Connection,
  batch: string,
  context: LoaderContext,
): Promise<LoadReport> {
  // A load reads what earlier loads wrote, and numbers users and sessions after theirs.
  await finishUnfinishedWork(writer, STEP.started, context)
  const finished = await findLoad(writer, batch)
  if (finished === undefined) return loadRows(writer, takeBatch(batch), context)
  await clearLoad(writer, finished.load)
  return finished.report
}

/** A load of the stream. */
interface StreamLoad {
  readonly report: LoadReport
  /** The sum of the lengths of its lines. */
  readonly bytes: number
  /** The most rows that it could have; fewer than usual after a load of these rows was abandoned. */
  readonly maxRows: number
}

/**
 * Loads the next rows of the stream; returns undefined when there are none. Rows that the store cannot load together are
 * loaded in smaller parts. The caller holds the loader lease, and has called `resumeLoads` since it took the lease or
 * since a failure.
 */
export async function loadStream(
  writer: Connection,
  context: LoaderContext,
): Promise<StreamLoad | undefined> {
  for (;;) {
    const next = await findNextRows(writer)
    if (next === undefined) return undefined
    const report = await loadNextRows(writer, next, context)
    if (report !== undefined) return { report, bytes: next.bytes, maxRows: next.maxRows }
  }
}

/**
 * Finishes loads that were interrupted after they were staged, and deletions. A load that was not staged has published
 * nothing, and stays as it is. The caller holds the loader lease.
 */
export const finishInterruptedWork = async (
  writer: Connection,
  context: LoaderContext,
): Promise<void> => {
  await finishUnfinishedWork(writer, STEP.staged, context)
}

/**
 * @param minStep the step that a load must have reached to be finished; one that is not staged is abandoned
 * @returns the report of the loads that it ended
 */
async function finishUnfinishedWork(
  writer: Connection,
  minStep: number,
  context: LoaderContext,
): Promise<LoadReport> {
  let report = EMPTY_REPORT
  await dropShadowTables(writer)
  // First the loads: a deletion ends the changes of its project, of which such a load may be half visible.
  for (const load of await findUnfinishedLoads(writer)) {
    if (load.step < minStep) continue
    const ended =
      load.step === STEP.started
        ? await abandonInterruptedLoad(writer, load)
        : await runLoad(writer, load, context)
    report = addReports(report, ended ?? EMPTY_REPORT)
  }
  await context.finishDeletions(writer)
  await endLeftChanges(writer)
  return report
}

/**
 * Finishes what an earlier loader left: interrupted deletions and loads, and batches that were never loaded.
 * The caller holds the loader lease.
 *
 * @returns the report of the loads of an earlier loader that it ended
 */
export async function resumeLoads(writer: Connection, context: LoaderContext): Promise<LoadReport> {
  const report = await finishUnfinishedWork(writer, STEP.started, context)
  // A loader that was killed at the very end left its tables. Under the lease no other loader has any.
  await dropTables(writer, LOAD_TABLES)
  await emptyStagedTables(writer)
  await dropLoadedParts(writer)
  await forgetLostBlocks(writer)
  const { rows } = await writer.query<{ batch: string }>(
    statement(sql`SELECT DISTINCT batch FROM inbox WHERE batch != '' ORDER BY batch`),
  )
  for (const { batch } of rows) await loadLeftBatch(writer, batch, context)
  return report
}

/**
 * Loads a batch that an import left in the inbox. If it cannot be loaded, it is dropped: its import has not succeeded, and
 * loads it again when it is repeated.
 */
async function loadLeftBatch(
  writer: Connection,
  batch: string,
  context: LoaderContext,
): Promise<void> {
  try {
    if (await isGivenUp(writer, batch)) await dropBatch(writer, batch)
    else await loadBatch(writer, batch, context)
  } catch (error) {
    if (!(error instanceof UnloadableError)) throw error
  }
}

/**
 * Loads all rows that are in the inbox when it is called; rows that arrive later are left. The caller holds the loader
 * lease.
 */
export async function loadWaiting(writer: Connection, context: LoaderContext): Promise<void> {
  await resumeLoads(writer, context)
  const upTo = await findLastBlock(writer)
  for (;;) {
    const next = await findNextRows(writer, { upTo })
    if (next === undefined) return
    await loadNextRows(writer, next, context)
  }
}

/** Loads rows of the stream; returns undefined when its rows must be loaded in smaller parts. */
async function loadNextRows(
  writer: Connection,
  source: LoadSource,
  context: LoaderContext,
): Promise<LoadReport | undefined> {
  try {
    return await loadRows(writer, source, context)
  } catch (error) {
    if (!(error instanceof UnloadableError) || error.rows <= 1) throw error
    return undefined
  }
}

/** Loads a batch, or rows of the stream, under a new number. @throws UnloadableError */
async function loadRows(
  writer: Connection,
  source: LoadSource,
  context: LoaderContext,
): Promise<LoadReport> {
  const load = await startLoad(writer, source)
  try {
    return await runLoad(writer, load, context)
  } catch (error) {
    return endFailedLoad(writer, load, error)
  }
}
