/** How long statements take, and what they cost the engine, by its log. */
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { sql, statement } from '../../src/clickhouse/sql.js'
import type { Store } from '../../src/clickhouse/store.js'
import { measureMs } from './figures.js'

/** What a request cost the engine, over all its statements. */
export interface Cost {
  readonly cpuMs: number
  readonly rowsRead: number
}

/** Reads the costs of the requests of the last minutes, by their ids: the first parts of the ids of their statements. */
async function readCosts({ admin }: Store): Promise<ReadonlyMap<string, Cost>> {
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

/** The engine may log a statement a moment after its response. */
const LOG_TRIES = 20
const LOG_PAUSE_MS = 250

/** Runs something as the statements of a request. */
export type Run = (requestId: string) => Promise<unknown>

/** What is run repeatedly: the time of each run, in milliseconds, and the id of its request. */
export interface Side {
  readonly run: Run
  readonly times: number[]
  readonly ids: string[]
}

export const createSide = (run: Run): Side => ({ run, times: [], ids: [] })

export async function runSide({ run, times, ids }: Side): Promise<void> {
  const requestId = randomUUID()
  ids.push(requestId)
  times.push(await measureMs(() => run(requestId)))
}

/** Reads what the runs of the last minutes cost, in order. @throws Error when the engine does not log all of them */
export async function readSideCosts(store: Store, { ids }: Side): Promise<readonly Cost[]> {
  for (let i = 0; i < LOG_TRIES; i++) {
    const costs = await readCosts(store)
    const found = ids.flatMap((id) => costs.get(id) ?? [])
    if (found.length === ids.length) return found
    await setTimeout(LOG_PAUSE_MS)
  }
  throw new Error('the engine has not logged every run')
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
