/** Loads what is in the inbox: every row becomes at most one event, whatever breaks off in between. */
import type { Connection } from '../../clickhouse/connection.js'
import { dropTables } from '../../clickhouse/drop-tables.js'
import { sql, statement } from '../../clickhouse/sql.js'
import { nameRange } from './load-source.js'
import { clearLoad, runLoad } from './run-load.js'
import { findLoad, findUnfinishedLoads, startLoad, STEP, type Load } from './load-log.js'
import type { LoadReport } from './load-report.js'
import type { LoaderContext } from './loader-context.js'
import { repairCursor, dropLoadedParts, findNextRange } from './stream.js'
import { LOAD_PREFIX } from './steps/load-tables.js'

/** Rows of the stream that are loaded at once, at most, but for those of one block. */
const MOST_ROWS = 250_000

/**
 * Loads one batch, once: asked again it tells what it did. The caller holds the lease of the loader.
 *
 * Everything is computed into tables of the load first; once facts are written, nothing but those is
 * read any more. The writing is a handful of inserts that the store takes once however often they come.
 */
export async function loadBatch(
  writer: Connection,
  batch: string,
  context: LoaderContext,
): Promise<LoadReport> {
  // A load reads what those before it wrote, and gives numbers of users and sessions after theirs.
  await finishAll(writer, context)
  const done = await findLoad(writer, batch)
  if (done === undefined) return runLoad(writer, await startLoad(writer, batch), context.geoip)
  await clearLoad(writer, done.load)
  return done.report
}

/**
 * Loads the next rows of the stream; undefined where none waits. The caller holds the lease of the
 * loader, and began with `resumeLoads`.
 */
export async function loadStream(
  writer: Connection,
  context: LoaderContext,
): Promise<LoadReport | undefined> {
  const range = await findNextRange(writer, MOST_ROWS)
  if (range === undefined) return undefined
  return runLoad(writer, await startLoad(writer, nameRange(range)), context.geoip)
}

/**
 * Finishes what was begun to be written and broken off: a removal, or a load that was staged. Of a load that
 * was not, nothing is written yet, and it is left as it is. The caller holds the lease of the loader.
 */
export const finishInterruptedWork = (writer: Connection, context: LoaderContext): Promise<void> =>
  finishThose(writer, ({ step }) => step >= STEP.staged, context)

const finishAll = (writer: Connection, context: LoaderContext): Promise<void> =>
  finishThose(writer, () => true, context)

async function finishThose(
  writer: Connection,
  which: (load: Load) => boolean,
  { geoip, finishDeletions }: LoaderContext,
): Promise<void> {
  await finishDeletions(writer)
  for (const load of (await findUnfinishedLoads(writer)).filter(which)) {
    await runLoad(writer, load, geoip)
  }
}

/**
 * Finishes what an earlier loader left: its load, and batches that it never came to. The caller holds the
 * lease of the loader.
 */
export async function resumeLoads(writer: Connection, context: LoaderContext): Promise<void> {
  await finishAll(writer, context)
  // A loader that was killed at the very end left what was to be cleared, and nobody else has tables now.
  await dropTables(writer, LOAD_PREFIX)
  await dropLoadedParts(writer)
  await repairCursor(writer)
  const waiting = await writer.query<{ batch: string }>(
    statement(sql`SELECT DISTINCT batch FROM inbox WHERE batch != '' ORDER BY batch`),
  )
  for (const { batch } of waiting.rows) await loadBatch(writer, batch, context)
}

/** Loads all that waits in the inbox. The caller holds the lease of the loader. */
export async function loadWaiting(writer: Connection, context: LoaderContext): Promise<void> {
  await resumeLoads(writer, context)
  while ((await loadStream(writer, context)) !== undefined);
}
