/** What statements cost the engine, by its log. */
import { sql, statement } from '../../src/clickhouse/sql.js'
import type { Store } from '../../src/clickhouse/store.js'

/** What a request cost the engine, over all its statements. */
export interface Cost {
  readonly cpuMs: number
  readonly rowsRead: number
}

/** Reads the costs of the requests of the last minutes, by their ids: the first parts of the ids of their statements. */
export async function readCosts({ admin }: Store): Promise<ReadonlyMap<string, Cost>> {
  await admin.execute(statement(sql`SYSTEM FLUSH LOGS query_log`))
  const { rows } = await admin.query<Cost & { requestId: string }>(
    statement(sql`
SELECT
  substring(query_id, 1, 36) AS requestId,
  sum(ProfileEvents['UserTimeMicroseconds'] + ProfileEvents['SystemTimeMicroseconds']) / 1000 AS cpuMs,
  sum(read_rows) AS rowsRead
FROM system.query_log
WHERE type = 'QueryFinish' AND length(query_id) = 73 AND event_time > now() - 600 GROUP BY requestId`),
  )
  return new Map(rows.map((row) => [row.requestId, row]))
}

/** Reads the median CPU time of the statements of the last minutes, by the first part of their ids: the id of the request. */
export async function readCpuMs({ admin }: Store): Promise<ReadonlyMap<string, number>> {
  await admin.execute(statement(sql`SYSTEM FLUSH LOGS query_log`))
  const { rows } = await admin.query<{ requestId: string; cpuMs: number }>(
    statement(sql`
SELECT
  substring(query_id, 1, 36) AS requestId,
  quantile(0.5)(ProfileEvents['UserTimeMicroseconds'] + ProfileEvents['SystemTimeMicroseconds']) / 1000 AS cpuMs
FROM system.query_log
WHERE type = 'QueryFinish' AND length(query_id) = 73 AND event_time > now() - 600 GROUP BY requestId`),
  )
  return new Map(rows.map(({ requestId, cpuMs }) => [requestId, cpuMs]))
}
