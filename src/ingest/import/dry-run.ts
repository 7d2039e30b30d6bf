/** Tries an import: all that loading would find out, and nothing that stays. */
import { randomUUID } from 'node:crypto'
import type { Connection } from '../../clickhouse/connection.js'
import { dropAbandonedTables, dropTables } from '../../clickhouse/drop-tables.js'
import { identifier, sql, statement } from '../../clickhouse/sql.js'
import type { Store } from '../../clickhouse/store.js'
import type { ImportOptions, ImportReport } from './import-events.js'
import { insertBatch } from '../inbox/batches.js'
import { readLines } from './lines.js'
import { selectRows, stageRows, surveyLoad } from '../loader/run-load.js'
import { readNextNumber } from '../loader/load-log.js'
import { EMPTY_REPORT, type LoadReport } from '../loader/load-report.js'
import type { Affected } from '../loader/affected.js'
import { parseRows } from '../loader/steps/parse-rows.js'
import { nameTables, type LoadTables } from '../loader/steps/load-tables.js'
import { listRejections } from '../inbox/rejections.js'

type TrialOptions = ImportOptions & Required<Pick<ImportOptions, 'chunkSize'>>

const TRIALS = 'trial_'

/**
 * Reads and judges all lines, and computes what they would come to beside what is stored, as one batch.
 * A source that was imported before counts as any other: only event ids tell duplicates.
 */
export async function dryRunImport(
  { writer }: Store,
  source: AsyncIterable<Buffer>,
  options: TrialOptions,
): Promise<ImportReport> {
  const prefix = `${TRIALS}${randomUUID().replaceAll('-', '')}_`
  // A trial that was killed leaves its tables, with addresses in them; none takes a day.
  await dropAbandonedTables(writer, TRIALS)
  try {
    return await attempt(writer, source, prefix, options)
  } finally {
    await dropTables(writer, prefix)
  }
}

async function attempt(
  writer: Connection,
  source: AsyncIterable<Buffer>,
  prefix: string,
  options: TrialOptions,
): Promise<ImportReport> {
  const { projectId = '', chunkSize, now, loader } = options
  const inbox = identifier(`${prefix}inbox`)
  await writer.execute(statement(sql`CREATE TABLE ${inbox} AS inbox`))
  const reader = readLines(source)
  for (;;) {
    const length = await reader.pieceLength(chunkSize)
    if (length === 0) break
    const { bytes, firstRow } = reader.take(length)
    await insertBatch(writer, {
      batch: `piece-${firstRow}`,
      projectId,
      firstRow,
      bytes,
      now,
      into: inbox,
    })
    const [count] = await selectRows<Pick<LoadReport, 'received'>>(
      writer,
      sql`SELECT count() AS received FROM ${inbox}`,
    )
    options.onProgress?.({ ...EMPTY_REPORT, ...count })
  }
  const tables = nameTables(prefix)
  await writer.execute(statement(parseRows(tables, sql`FROM ${inbox}`)))
  await stageRows(writer, tables, await readNextNumber(writer), loader.geoip, true)
  const { report } = await surveyLoad(writer, tables)
  if (report.rejected > 0) await options.onRejected(await listRejections(writer, tables.rows))
  return { ...report, ...(await countStaged(writer, tables)) }
}

async function countStaged(writer: Connection, tables: LoadTables): Promise<Affected> {
  const [row] = await selectRows<Affected>(
    writer,
    sql`SELECT (SELECT count() FROM ${tables.users}) AS users, (SELECT count() FROM ${tables.sessions}) AS sessions`,
  )
  return row ?? { users: 0, sessions: 0 }
}
