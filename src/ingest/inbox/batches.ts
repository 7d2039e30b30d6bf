/** Inserts batches into the inbox, where events are kept as received until they are loaded. */
import { Readable } from 'node:stream'
import type { Connection } from '../../clickhouse/connection.js'
import { boolean, sql, statement, string, time, uint64, type Sql } from '../../clickhouse/sql.js'
import { INVALID_LINE } from './line-marks.js'
import { ONE_BLOCK } from './one-block.js'

interface NewBatch {
  readonly batch: string
  /** The project of all rows; empty when each row names its own. */
  readonly projectId: string
  /** The number of the first line in its source, counted from 1. */
  readonly firstRow: number
  /** Lines of JSON, see `importEvents`. Blank lines are not inserted, but count in the numbers of rows. */
  readonly bytes: Buffer
  /** When the batch arrived. */
  readonly now: Date
  /** Whether one rejected row keeps the whole batch from being loaded; false by default. */
  readonly strict?: boolean
  /** The table to insert into, with the columns of the inbox; the inbox by default. */
  readonly into?: Sql
}

/** Inserts the lines of a batch, all of them or none. */
export async function insertBatch(writer: Connection, newBatch: NewBatch): Promise<void> {
  const { batch, projectId, firstRow, bytes, now, strict = false, into = sql`inbox` } = newBatch
  const isInvalid = sql`startsWith(text, ${string(INVALID_LINE.start)})`
  const end = sql`position(text, ${string(INVALID_LINE.end)})`
  await writer.upload(
    statement(sql`
INSERT INTO ${into} (batch, row, project, strict, received_at, fault, line)
SELECT
  ${string(batch)}, ${uint64(firstRow)} + place, ${string(projectId)}, ${boolean(strict)}, ${time(now)},
  if(${isInvalid}, substring(text, 2, ${end} - 2), ''), if(${isInvalid}, substring(text, ${end} + 1), text)
FROM (SELECT rowNumberInAllBlocks() AS place, text FROM input('text String'))
WHERE match(text, '[^ \\t\\r]')
FORMAT LineAsString`),
    Readable.from([bytes]),
    {
      ...ONE_BLOCK,
      max_threads: 1,
      input_format_parallel_parsing: 0,
    },
  )
}

/** Deletes the rows of a batch from the inbox. */
export const dropBatch = (writer: Connection, batch: string): Promise<void> =>
  writer.execute(statement(sql`ALTER TABLE inbox DROP PARTITION ${string(batch)}`))
