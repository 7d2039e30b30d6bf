/** Reads from the logs of shards what each of them did for statements that they answered together. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection, QueryCost, Settings } from '../clickhouse/connection.js'
import { sql, statement, string, type Statement } from '../clickhouse/sql.js'
import type { Store } from '../clickhouse/store.js'
import { SECOND_MS } from '../lib/time.js'

/** What some statements cost on a shard, by its own log. */
export interface LoggedCost extends QueryCost {
  /** Milliseconds of CPU time, of all threads. */
  readonly cpuMs: number
}

/** Every statement is logged, whatever the profile of the account says. */
const LOG_SETTINGS: Settings = {
  log_queries: 1,
  log_queries_probability: 1,
  log_queries_min_query_duration_ms: 0,
}

/** Returns a connection whose queries are in the logs of all shards that they ask. */
export const withLog = (connection: Connection): Connection => ({
  ...connection,
  query: (asked, options = {}) =>
    connection.query(asked, { ...options, settings: { ...options.settings, ...LOG_SETTINGS } }),
})

/** What the statements of a request cost on a shard. */
export interface LoggedCosts {
  /** What it did for the shard that runs the statements, which may be the same. */
  readonly asked: LoggedCost
  /** What it did as the one that runs them; undefined for any other shard. */
  readonly asking: LoggedCost | undefined
}

/** A statement is logged soon after its response. */
const POLL_MS = 50
const TIMEOUT_MS = 2 * SECOND_MS

/**
 * Reads what the statements of a request cost on a shard. It waits until they are logged.
 *
 * @param requestId that of the statements, which no other request has
 * @param count how many statements there are
 * @param isAsking whether the shard runs the statements, and asks the others
 * @returns undefined if the log does not get them
 * @throws the errors of a connection, such as of an account that may not read the log
 */
export async function readLoggedCosts(
  { admin }: Store,
  requestId: string,
  count: number,
  isAsking: boolean,
): Promise<LoggedCosts | undefined> {
  const begun = performance.now()
  for (;;) {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    await admin.execute(FLUSH, undefined, signal)
    const { rows } = await admin.query<LogRow>(selectCosts(requestId), { signal })
    const find = (isInitial: 0 | 1): LoggedCost | undefined => {
      const row = rows.find((one) => one.isInitial === isInitial && one.found >= count)
      if (row === undefined) return undefined
      const { rowsRead, bytesRead, ms, cpuMs } = row
      return { rowsRead, bytesRead, ms, cpuMs }
    }
    const [asked, asking] = [find(0), find(1)]
    if (asked !== undefined && (asking !== undefined || !isAsking)) return { asked, asking }
    if (performance.now() - begun > TIMEOUT_MS) return undefined
    await sleep(POLL_MS)
  }
}

interface LogRow extends LoggedCost {
  readonly isInitial: 0 | 1
  readonly found: number
}

const FLUSH = statement(sql`SYSTEM FLUSH LOGS query_log`)

/** ClickHouse cannot read the first clock everywhere; the second has ticks of some milliseconds. */
const CPU = sql`if(
        ProfileEvents['OSCPUVirtualTimeMicroseconds'] > 0,
        ProfileEvents['OSCPUVirtualTimeMicroseconds'],
        ProfileEvents['UserTimeMicroseconds'] + ProfileEvents['SystemTimeMicroseconds'])`

/** The id of a statement begins with that of its request. The shards that are asked have it as the initial id of theirs. */
const selectCosts = (requestId: string): Statement =>
  statement(sql`
    SELECT
      is_initial_query AS isInitial,
      count() AS found,
      sum(read_rows) AS rowsRead,
      sum(read_bytes) AS bytesRead,
      sum(toUnixTimestamp64Micro(event_time_microseconds) - toUnixTimestamp64Micro(query_start_time_microseconds)) / 1000 AS ms,
      sum(${CPU}) / 1000 AS cpuMs
    FROM system.query_log
    WHERE startsWith(initial_query_id, ${string(`${requestId}-`)}) AND type = 'QueryFinish'
      AND event_date >= yesterday() AND event_time > now() - INTERVAL 10 MINUTE
    GROUP BY isInitial`)
