/** Selects the rows of the inbox that no load has counted: with what the table `usage` has, they are all that was accepted. */
import type { Connection } from '../clickhouse/connection.js'
import { sql, statement, strings, uint64, type Sql } from '../clickhouse/sql.js'
import { STEP } from '../ingest/loader/load-log.js'
import { POSITION } from '../ingest/inbox/position.js'
import { isWithin, joinStretches, type StretchArrays } from '../ingest/loader/load-source.js'
import { IS_WAITING, WITH_LOADED } from '../ingest/loader/stream.js'

/**
 * The loads that have counted their rows, and have not ended. The rows of such a load are still in the inbox. A loader that was
 * killed may have left one.
 */
const COUNTED_LOADS = sql`
SELECT load, batch, starts, ends FROM loads FINAL
WHERE step < ${uint64(STEP.loaded)} AND load > (SELECT max(load) FROM inbox_cursor)
  AND load IN (SELECT load FROM usage WHERE load > (SELECT max(load) FROM inbox_cursor))`

/** Their stretches of the stream. */
const COUNTED = selectStretches()

function selectStretches(): StretchArrays {
  const { starts, ends } = joinStretches(
    sql`arrayZip(arrayFlatten(groupArray(starts)), arrayFlatten(groupArray(ends)))`,
  )
  return {
    starts: sql`(SELECT ${starts} FROM (${COUNTED_LOADS}))`,
    ends: sql`(SELECT ${ends} FROM (${COUNTED_LOADS}))`,
  }
}

const isOne = (ids: readonly string[], project: Sql): Sql => sql`has(${strings(ids)}, ${project})`

/** Rows that name their project themselves are read as a whole, so only those of other sources are. */
function selectRows(ids: readonly string[], isWaiting: Sql): Sql {
  const named = sql`JSONExtractString(line, 'project')`
  return sql`
${WITH_LOADED}
SELECT toString(project) AS project_id, received_at FROM inbox
WHERE project != '' AND ${isOne(ids, sql`project`)} AND ${isWaiting}
UNION ALL
${WITH_LOADED}
SELECT ${named} AS project_id, received_at FROM inbox
WHERE project = '' AND ${isWaiting} AND ${isOne(ids, named)}`
}

/**
 * Selects the waiting rows of projects, as `project_id` and `received_at`: rows of the stream and of
 * batches that no load has counted, and rows that are forwarded to another shard.
 */
export function selectWaitingRows(ids: readonly string[]): Sql {
  const isUncounted = sql`${IS_WAITING} AND NOT ${isWithin(POSITION, COUNTED)}`
  const isInBatch = sql`
  batch != '' AND batch NOT IN (
    SELECT batch FROM loads FINAL
    WHERE step = ${uint64(STEP.loaded)} AND batch IN (SELECT DISTINCT batch FROM inbox WHERE batch != '')
    UNION ALL
    SELECT batch FROM (${COUNTED_LOADS})
  )`
  return sql`
${selectRows(ids, isUncounted)}
UNION ALL
${selectRows(ids, isInBatch)}
UNION ALL
SELECT toString(project), received_at FROM forwards
WHERE ${isOne(ids, sql`project`)}
  AND (load <= (SELECT max(load) FROM inbox_cursor) OR load IN (SELECT load FROM (${COUNTED_LOADS})))`
}

/** How often numbers are read, while each time a load goes on meanwhile. The steps of a load take far longer than to read. */
const MAX_READS = 20

/**
 * Reads what loads have counted together with what waits. A statement reads its tables one after another, so it is repeated if a
 * load has gone on meanwhile: its rows would be in both numbers, or in none.
 */
export async function readBetweenLoads<Result>(
  writer: Connection,
  read: () => Promise<Result>,
): Promise<Result> {
  let before = await readProgress(writer)
  for (let reads = 1; ; reads += 1) {
    const result = await read()
    const after = await readProgress(writer)
    if (after === before || reads === MAX_READS) return result
    before = after
  }
}

/** Reads how far loads are, as a text that is another after each step which `selectWaitingRows` sees. */
async function readProgress(writer: Connection): Promise<string> {
  const { rows } = await writer.query<{ progress: string }>(
    statement(sql`
SELECT toString((
  (SELECT max(load) FROM usage), (SELECT max(load) FROM inbox_cursor), (SELECT max((load, step)) FROM loads)
)) AS progress`),
  )
  return rows[0]?.progress ?? ''
}
