/**
 * Decides when which rows are loaded, and resumes loads after a crash. Each row of the inbox becomes at most one
 * event, at whatever point a load is interrupted.
 */
import type { Connection } from '../../clickhouse/connection.js'
import { sql, statement } from '../../clickhouse/sql.js'
import { dropTables } from '../../clickhouse/temporary-tables.js'
import { dropShadowTables } from '../../rollups/shadow-tables.js'
import { findLoad, findUnfinishedLoads, startLoad, STEP } from './load-log.js'
import type { LoadReport } from './load-report.js'
import { nameRange, type BlockRange } from './load-source.js'
import type { LoaderContext } from './loader-context.js'
import { clearLoad, runLoad } from './run-load.js'
import { LOAD_TABLES } from './steps/load-tables.js'
import { dropLoadedParts, findLastBlock, findNextRange, repairCursor } from './stream.js'

/** The most rows of the stream that one load takes, unless a single block has more. */
const MAX_ROWS = 250_000

/**
 * Loads a batch of the inbox and returns its report. A batch that is loaded already is not loaded again. The
 * caller holds the loader lease.
 */
export async function loadBatch(
  writer: Connection,
  batch: string,
  context: LoaderContext,
): Promise<LoadReport> {
  // A load reads what earlier loads wrote, and numbers users and sessions after theirs.
  await finishUnfinishedWork(writer, STEP.started, context)
  const finished = await findLoad(writer, batch)
  if (finished === undefined) return runLoad(writer, await startLoad(writer, batch), context)
  await clearLoad(writer, finished.load)
  return finished.report
}

/**
 * Loads the next rows of the stream; returns undefined when there are none. The caller holds the loader
 * lease, and has called `resumeLoads` since it took the lease or since a failure.
 */
export async function loadStream(
  writer: Connection,
  context: LoaderContext,
): Promise<LoadReport | undefined> {
  const range = await findNextRange(writer, MAX_ROWS)
  return range === undefined ? undefined : loadRange(writer, range, context)
}

/**
 * Finishes deletions, and loads that were interrupted after they were staged. A load that was not staged has published
 * nothing, and stays as it is. The caller holds the loader lease.
 */
export const finishInterruptedWork = (writer: Connection, context: LoaderContext): Promise<void> =>
  finishUnfinishedWork(writer, STEP.staged, context)

/** @param minStep the step that a load must have reached to be finished */
async function finishUnfinishedWork(
  writer: Connection,
  minStep: number,
  context: LoaderContext,
): Promise<void> {
  await dropShadowTables(writer)
  await context.finishDeletions(writer)
  for (const load of await findUnfinishedLoads(writer)) {
    if (load.step >= minStep) await runLoad(writer, load, context)
  }
}

/**
 * Finishes what an earlier loader left: interrupted deletions and loads, and batches that were never loaded.
 * The caller holds the loader lease.
 */
export async function resumeLoads(writer: Connection, context: LoaderContext): Promise<void> {
  await finishUnfinishedWork(writer, STEP.started, context)
  // A loader that was killed at the very end left its tables. Under the lease no other loader has any.
  await dropTables(writer, LOAD_TABLES)
  await dropLoadedParts(writer)
  await repairCursor(writer)
  const { rows } = await writer.query<{ batch: string }>(
    statement(sql`SELECT DISTINCT batch FROM inbox WHERE batch != '' ORDER BY batch`),
  )
  for (const { batch } of rows) await loadBatch(writer, batch, context)
}

/**
 * Loads all rows that are in the inbox when it is called; rows that arrive later are left. The caller holds the loader
 * lease.
 */
export async function loadWaiting(writer: Connection, context: LoaderContext): Promise<void> {
  await resumeLoads(writer, context)
  const lastBlock = await findLastBlock(writer)
  for (;;) {
    const range = await findNextRange(writer, MAX_ROWS)
    if (range === undefined || range.after >= lastBlock) return
    await loadRange(writer, range, context)
  }
}

const loadRange = async (
  writer: Connection,
  range: BlockRange,
  context: LoaderContext,
): Promise<LoadReport> => runLoad(writer, await startLoad(writer, nameRange(range)), context)
