/** Puts batches of lines into the inbox, where events arrive as received. */
import { Readable } from 'node:stream'
import type { Connection } from '../../clickhouse/connection.js'
import { boolean, sql, statement, string, time, uint64, type Sql } from '../../clickhouse/sql.js'
import { INVALID_LINE } from './line-marks.js'
import { ONE_BLOCK } from './one-block.js'

export interface NewBatch {
  readonly batch: string
  /** The project of all rows; empty where each row names its own. */
  readonly projectId: string
  /** The number of the first line in its source, counted from 1. */
  readonly firstRow: number
  /** Lines of JSON, see `importEvents`. Blank ones are passed over, and counted as lines. */
  readonly bytes: Buffer
  /** When it arrived. */
  readonly now: Date
  /** Nothing of the batch is loaded if a row of it is rejected. */
  readonly strict?: boolean
  /** Another table than the inbox that has its columns. */
  readonly into?: Sql
}

/** Puts lines into the inbox, all of them or none. */
export async function insertBatch(writer: Connection, given: NewBatch): Promise<void> {
  const { batch, projectId, firstRow, bytes, now, strict = false, into = sql`inbox` } = given
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

/** Takes a batch away that was put there and not loaded. */
export const dropBatch = (writer: Connection, batch: string): Promise<void> =>
  writer.execute(statement(sql`ALTER TABLE inbox DROP PARTITION ${string(batch)}`))
