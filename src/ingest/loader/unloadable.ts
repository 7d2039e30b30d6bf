/**
 * Ends loads that stop before they are staged. They have published nothing, so their rows can be loaded in smaller parts. A
 * row that cannot be loaded even alone is rejected, so that the rows behind it do not wait for it.
 */
import { endLeftChanges } from '../../changes/left-changes.js'
import type { Connection } from '../../clickhouse/connection.js'
import { getClickHouseReason, isDiskFull } from '../../clickhouse/errors.js'
import { sql, statement, string, uint64 } from '../../clickhouse/sql.js'
import { dropBatch } from '../inbox/batches.js'
import { EMPTY_REPORT, type LoadReport } from './load-report.js'
import {
  findAbandonedLoads,
  NO_ROWS,
  NOT_THE_ROWS,
  readStep,
  recordAbandoned,
  STEP,
  type Load,
} from './load-log.js'
import { buildFromClause, isOfStream, nameRejections, type LoadSource } from './load-source.js'
import { SHRINK_FACTOR } from './next-rows.js'
import { closeLoad } from './run-load.js'
import { dropLoadTables, nameLoadTables } from './steps/shared/load-tables.js'
import { parseRows, WITHOUT_ADDRESS } from './steps/parse-rows.js'
import { insertOnce } from './steps/slices.js'

/** After this many attempts a row that the store does not load is rejected. */
const MAX_FAILURES = 3

/** After this many interruptions of its load a batch or row is given up: it may be what stops the store. */
const MAX_INTERRUPTIONS = 20

/** The store cannot load these rows together, though it can load others. */
export class UnloadableError extends Error {
  override readonly name = 'UnloadableError'
  /** How many rows the load had. */
  readonly rows: number

  constructor(rows: number, cause: unknown) {
    super(`${rows} rows cannot be loaded together`, { cause })
    this.rows = rows
  }
}

/**
 * Ends a load that has failed. If the cause may be one row, and the load has no other, the row is rejected, and the report
 * of the load is returned.
 *
 * @throws UnloadableError when the store cannot load the rows together; a batch is then dropped from the inbox. Else
 *   `error`, if the load is staged or its rows are not the cause.
 */
export async function endFailedLoad(
  writer: Connection,
  load: Load,
  error: unknown,
): Promise<LoadReport> {
  const reason = getReason(error)
  if (reason === undefined || (await readStep(writer, load)) !== STEP.started) throw error
  // At once: the store may be out of space.
  await dropLoadTables(writer, nameLoadTables(load.number))
  // It has changed nothing. If this fails, the next holder of the lease does it.
  await endLeftChanges(writer).catch(() => undefined)
  if (isDiskFull(error)) return endLoadWithoutSpace(writer, load, error)
  await checkStore(writer, load).catch(() => {
    throw error
  })
  const isStream = isOfStream(load)
  const [rows, attempts] = await Promise.all([
    countRows(writer, load),
    countAttempts(writer, load.batch),
  ])
  if (rows === 1 && (!isStream || attempts + 1 >= MAX_FAILURES)) {
    return rejectRow(writer, load, `cannot be loaded: ${reason}`)
  }
  await abandonLoad(writer, load, Math.ceil(rows / SHRINK_FACTOR))
  if (!isStream) await dropBatch(writer, load.batch)
  throw new UnloadableError(rows, error)
}

/**
 * Abandons a load because the disk is full. However often that happens, it is not the fault of the rows: those of the stream
 * wait, and the import of a batch fails.
 *
 * @throws `error`
 */
async function endLoadWithoutSpace(writer: Connection, load: Load, error: unknown): Promise<never> {
  try {
    await recordAbandoned(writer, load, NOT_THE_ROWS)
    if (!isOfStream(load)) await dropBatch(writer, load.batch)
  } catch {
    // There is no space for that either. The next loader finds an interrupted load.
  }
  throw error
}

/** Returns why rows could not be loaded; undefined for an error that no row can cause, such as a lost connection. */
const getReason = (error: unknown): string | undefined =>
  getClickHouseReason(error) ?? (error instanceof RangeError ? error.message : undefined)

/**
 * Abandons a load that was interrupted before it was staged. Its rows are loaded again; the second time in smaller parts,
 * because they may be the cause. A row whose load was interrupted 20 times is rejected.
 *
 * @returns the report of the load that rejected the row; undefined if the rows are loaded again
 */
export async function abandonInterruptedLoad(
  writer: Connection,
  load: Load,
): Promise<LoadReport | undefined> {
  const [rows, attempts] = await Promise.all([
    countRows(writer, load),
    countAttempts(writer, load.batch),
  ])
  const isStream = isOfStream(load)
  if (isStream && rows === 1 && attempts + 1 >= MAX_INTERRUPTIONS) {
    const reason = 'cannot be loaded: the store or the service stopped at each attempt'
    return rejectRow(writer, load, reason)
  }
  await abandonLoad(writer, load, attempts === 0 ? rows : Math.ceil(rows / SHRINK_FACTOR))
  return undefined
}

/** Returns whether the load of a batch was interrupted so often that it is not tried again. */
export const isGivenUp = async (writer: Connection, batch: string): Promise<boolean> =>
  (await countAttempts(writer, batch)) >= MAX_INTERRUPTIONS

/** Ends a load. @param nextRows the most rows that the next load of its rows takes */
async function abandonLoad(writer: Connection, load: Load, nextRows: number): Promise<void> {
  try {
    // First of all: a loader that was suspended, and goes on with this load, then stops.
    await recordAbandoned(writer, load, Math.max(1, nextRows))
  } finally {
    await dropLoadTables(writer, nameLoadTables(load.number))
  }
}

/** Loads a made-up row, without publishing it. @throws when the store cannot load even that */
async function checkStore(writer: Connection, load: Load): Promise<void> {
  const tables = nameLoadTables(load.number)
  const row = sql`
FROM (
  SELECT
    toUInt64(1) AS _block_number, toUInt64(0) AS _block_offset, '' AS batch, toUInt64(0) AS row,
    '' AS project, '' AS fault, '{}' AS line, now64(3, 'UTC') AS received_at, true AS age_checked
)`
  try {
    await writer.execute(statement(parseRows(tables, row, { maxEventAgeDays: 1 })))
  } finally {
    await dropLoadTables(writer, tables)
  }
}

const countRows = async (writer: Connection, source: LoadSource): Promise<number> =>
  (
    await writer.query<{ rows: number }>(
      statement(sql`SELECT count() AS rows ${buildFromClause(source)}`),
    )
  ).rows[0]?.rows ?? 0

/** Counts the abandoned loads of exactly these rows. */
const countAttempts = async (writer: Connection, batch: string): Promise<number> =>
  (await findAbandonedLoads(writer)).filter((load) => load.batch === batch).length

/** The start of a line that is stored with a rejected row. */
const MAX_REJECTED_LENGTH = uint64(1_000)

/** The project of a row. */
const PROJECT = sql`if(project != '', project, JSONExtractString(line, 'project'))`

/** Rejects the only row of a load, and ends the load. May be repeated. */
async function rejectRow(writer: Connection, load: Load, reason: string): Promise<LoadReport> {
  const rows = buildFromClause(load)
  const name = nameRejections(load)
  // As `insertRejections` does.
  const text = name === '' ? sql`leftUTF8(${WITHOUT_ADDRESS}, ${MAX_REJECTED_LENGTH})` : sql`''`
  await writer.execute(
    statement(sql`
INSERT INTO rejections (batch, row, project_id, reason, line)
SELECT ${string(name)}, row, ${PROJECT}, ${string(reason)}, ${text} ${rows}`),
    { insert_deduplication_token: `rejected-${load.batch}` },
  )
  await insertOnce(
    writer,
    sql`
INSERT INTO usage (project_id, day, reason, events, load)
SELECT ${PROJECT}, toDate(received_at), 'other', 1, ${uint64(load.number)} ${rows}`,
    `usage-${load.batch}`,
  )
  const report = { ...EMPTY_REPORT, received: 1, rejected: 1 }
  return closeLoad(writer, load, report, {
    ...NO_ROWS,
    rowsLeft: sql`(SELECT groupArray(row) ${rows})`,
  })
}
