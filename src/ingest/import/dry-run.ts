/** Runs an import without storing anything: it reports what loading would do. */
import { randomUUID } from 'node:crypto'
import type { Connection } from '../../clickhouse/connection.js'
import { createLike } from '../../clickhouse/replicas/create-like.js'
import { identifier, sql } from '../../clickhouse/sql.js'
import type { Store } from '../../clickhouse/store.js'
import {
  dropAbandonedTables,
  dropTables,
  renewTables,
  UNIQUE_PART,
  type TableNames,
} from '../../clickhouse/temporary-tables.js'
import { insertBatch } from '../inbox/batches.js'
import { listRejections } from '../inbox/rejections.js'
import type { AffectedCounts } from '../loader/affected.js'
import { readNextNumber } from '../loader/load-log.js'
import { EMPTY_REPORT, type LoadReport } from '../loader/load-report.js'
import { MAX_LOAD } from '../loader/next-rows.js'
import {
  createTrialTables,
  matchLoadTables,
  type LoadTables,
} from '../loader/steps/shared/load-tables.js'
import { stageRows } from '../loader/steps/stage-rows.js'
import { selectRows, surveyLoad } from '../loader/survey.js'
import type { ImportOptions, ImportReport } from './import-options.js'
import { createLineReader } from './lines.js'
import { resolveTimestamps } from './timestamps/resolve-timestamps.js'

type DryRunOptions = ImportOptions & Required<Pick<ImportOptions, 'chunkSize'>>

/** The prefix of the tables of all dry runs. Abandoned tables are found by it, so it must not change. */
const TABLE_PREFIX = 'trial_'
const INBOX = 'inbox'

/** Matches the tables of dry runs whose unique part matches. */
const matchTrialTables = (unique: string): TableNames =>
  matchLoadTables(`${TABLE_PREFIX}${unique}_`, [INBOX])

/** The tables of all dry runs. */
export const TRIAL_TABLES = matchTrialTables(UNIQUE_PART)

/**
 * Validates all lines and computes their events beside the stored ones, as one batch. Whether the source was
 * imported before makes no difference: only event ids identify duplicates.
 */
export async function dryRunImport(
  { writer }: Store,
  source: AsyncIterable<Buffer>,
  options: DryRunOptions,
): Promise<ImportReport> {
  const unique = randomUUID().replaceAll('-', '')
  // A dry run that was killed leaves its tables, which hold IP addresses.
  await dropAbandonedTables(writer, TRIAL_TABLES)
  const own = matchTrialTables(unique)
  const endRenewal = renewTables(writer, own)
  try {
    return await loadIntoTables(writer, source, `${TABLE_PREFIX}${unique}_`, options)
  } finally {
    endRenewal()
    await dropTables(writer, own)
  }
}

/** Takes the steps of a load before publishing, in tables of the dry run. */
async function loadIntoTables(
  writer: Connection,
  source: AsyncIterable<Buffer>,
  prefix: string,
  options: DryRunOptions,
): Promise<ImportReport> {
  const { projectId = '', chunkSize, now, loader } = options
  const inbox = identifier(`${prefix}${INBOX}`)
  await createLike(writer, inbox, sql`inbox`)
  const reader = createLineReader(source)
  for (;;) {
    const length = await reader.measureChunk(chunkSize, MAX_LOAD.rows)
    if (length === 0 || options.stop?.aborted === true) break
    const { bytes, firstRow } = reader.take(length)
    await insertBatch(writer, {
      batch: `chunk-${firstRow}`,
      projectId,
      firstRow,
      bytes: resolveTimestamps(bytes, options),
      now,
      into: inbox,
    })
    const [count] = await selectRows<Pick<LoadReport, 'received'>>(
      writer,
      sql`SELECT count() AS received FROM ${inbox}`,
    )
    options.onProgress?.({ ...EMPTY_REPORT, ...count })
  }
  const load = await readNextNumber(writer)
  const tables = await createTrialTables(writer, prefix, load)
  await stageRows(writer, tables, {
    rows: sql`FROM ${inbox}`,
    load,
    context: loader,
    isDryRun: true,
  })
  const { report } = await surveyLoad(writer, tables)
  if (report.rejected > 0) await options.onRejected(await listRejections(writer, tables.rows))
  return { ...report, ...(await countStaged(writer, tables)) }
}

async function countStaged(writer: Connection, tables: LoadTables): Promise<AffectedCounts> {
  const [row] = await selectRows<AffectedCounts>(
    writer,
    sql`SELECT (SELECT count() FROM ${tables.users}) AS users, (SELECT count() FROM ${tables.sessions}) AS sessions`,
  )
  return row ?? { users: 0, sessions: 0 }
}
