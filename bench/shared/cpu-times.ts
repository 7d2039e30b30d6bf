/** What statements cost the engine, by its log. */
import { sql, statement } from '../../src/clickhouse/sql.js'
import type { Store } from '../../src/clickhouse/store.js'

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
