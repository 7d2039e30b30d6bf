/** Takes over what a store knows of imports: the same file adds nothing when it is imported again. */
import type { Settings } from '../../clickhouse/connection.js'
import { createLike } from '../../clickhouse/replicas/create-like.js'
import { numberedName, sql, statement, string, uint64 } from '../../clickhouse/sql.js'
import { STEP } from '../../ingest/loader/load-log.js'
import { STREAM_PREFIX } from '../../ingest/loader/load-source.js'
import type { Transfer } from './transfer.js'

const COLUMNS = sql`load, batch, step, at, received, events, duplicates, excluded, rejected, bots, first_at, last_at, rows_left, slices, projects`

const UNCHECKED: Settings = { async_insert: 0, insert_deduplicate: 0 }

/**
 * Copies the records of the batches that may have had rows of the project: a batch without events does not say of which
 * project it was. Their names are hashes of their bytes, so those of other projects do no harm. May be repeated.
 */
export async function copyImports({
  source: { store: source },
  target: { store: target },
  ...transfer
}: Transfer): Promise<void> {
  const { number, projectId, base } = transfer
  const isWanted = sql`step = ${uint64(STEP.loaded)} AND NOT startsWith(batch, ${string(STREAM_PREFIX)})
  AND (has(projects, ${string(projectId)}) OR empty(projects))`
  const staged = numberedName('move', number, 'loads')
  await target.writer.execute(statement(sql`DROP TABLE IF EXISTS ${staged} SYNC`))
  await createLike(target.writer, staged, sql`loads`)
  await source.writer.download(
    statement(sql`
SELECT * REPLACE (load + ${uint64(base)} AS load) FROM (SELECT ${COLUMNS} FROM loads FINAL WHERE ${isWanted})
FORMAT Native`),
    (bytes) =>
      target.writer.upload(
        statement(sql`INSERT INTO ${staged} (${COLUMNS}) FORMAT Native`),
        bytes,
        UNCHECKED,
      ),
  )
  await target.writer.execute(
    statement(sql`
INSERT INTO loads (${COLUMNS})
SELECT ${COLUMNS} FROM ${staged} WHERE batch NOT IN (SELECT batch FROM loads WHERE ${isWanted})`),
    UNCHECKED,
  )
}
