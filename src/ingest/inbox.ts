/** The inbox: where events arrive, as received. */
import { Readable } from 'node:stream'
import type { Connection } from '../clickhouse/connection.js'
import { boolean, sql, statement, string, uint64 } from '../clickhouse/sql.js'
import { ONE_BLOCK } from './loader/load.js'

export interface NewBatch {
  readonly batch: string
  /** The project of all rows; empty where each row names its own. */
  readonly projectId: string
  /** The number of the first line in its source, counted from 1. */
  readonly firstRow: number
  /** Lines of JSON. Blank ones are passed over, and counted as lines. */
  readonly bytes: Buffer
  /** Nothing of the batch is loaded if a row of it is rejected. */
  readonly strict?: boolean
}

/** Puts lines into the inbox, all of them or none; doing it again adds nothing. */
export async function putBatch(
  writer: Connection,
  { batch, projectId, firstRow, bytes, strict = false }: NewBatch,
): Promise<void> {
  await writer.upload(
    statement(sql`
INSERT INTO inbox (batch, row, project, strict, line)
SELECT ${string(batch)}, ${uint64(firstRow)} + place, ${string(projectId)}, ${boolean(strict)}, line
FROM (SELECT rowNumberInAllBlocks() AS place, line FROM input('line String'))
WHERE match(line, '[^ \\t\\r]')
FORMAT LineAsString`),
    Readable.from([bytes]),
    {
      ...ONE_BLOCK,
      max_threads: 1,
      input_format_parallel_parsing: 0,
      insert_deduplication_token: batch,
    },
  )
}
