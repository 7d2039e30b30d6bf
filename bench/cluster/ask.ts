/** Asks a project across shards what the benchmark asks, and reads from the logs of the engines what each shard did. */
import { setTimeout as sleep } from 'node:timers/promises'
import { QUERY } from '../../src/analytics/operations/query.js'
import { createQueryRunner } from '../../src/clickhouse/run.js'
import { int64, sql, statement } from '../../src/clickhouse/sql.js'
import type { Store } from '../../src/clickhouse/store.js'
import { locate, type Cluster } from '../../src/cluster/cluster.js'
import {
  findEarliest,
  findStatementGroup,
  openReader,
  readMeanSizes,
} from '../../src/cluster/shard-reads.js'
import type { AnalyticsQueryRequest, AnalyticsQueryResponse } from '../../src/contract/api.js'
import { findFirstEventTime } from '../../src/projects/event-times.js'
import type { StoredProject } from '../../src/projects/project.js'
import { readProjectSizes } from '../../src/projects/project-sizes.js'
import { answer } from '../../test/support/world/world.js'

export type Ask = (request: AnalyticsQueryRequest) => Promise<AnalyticsQueryResponse>

const TIMEOUT_MS = 60_000

/** Returns a function that answers queries of a project, as the service does without HTTP. */
export async function createAsk(cluster: Cluster, project: StoredProject, now: Date): Promise<Ask> {
  const shards = locate(cluster, project)
  const store = { ...shards[0].store, reader: openReader(shards) }
  const sizes = await readMeanSizes(shards, ({ store }) =>
    readProjectSizes(store.lookups, project.id, now),
  )
  const first = await findEarliest(shards, ({ store }) =>
    findFirstEventTime(store.reader, project.id),
  )
  return (request) => {
    const run = createQueryRunner(store, TIMEOUT_MS)
    return answer(QUERY, request, project, {
      group: findStatementGroup(cluster, project),
      readSizes: () => Promise.resolve(sizes),
      run: (asked) => run(asked),
      firstEventAt: () => Promise.resolve(first),
      now: () => now,
    })
  }
}

/** What one shard did for the statements of a time. */
export interface ShardWork {
  readonly rows: number
  /** Bytes that it sent to another shard. */
  readonly sent: number
  /** Milliseconds of CPU time of its statements. */
  readonly cpuMs: number
  /** Milliseconds of each statement. */
  readonly ms: readonly number[]
}

/** The moment on the clock of the engines, which is that of this machine, in microseconds. */
export const readMoment = (): number =>
  Math.round((performance.timeOrigin + performance.now()) * 1_000)

/** Reads the work of the account for queries since a moment. @param asked by another shard, or by the service */
export async function readWork(
  { admin }: Store,
  since: number,
  asked: 'shard' | 'service',
): Promise<ShardWork> {
  // The log gets a statement after its answer.
  await sleep(100)
  await admin.execute(statement(sql`SYSTEM FLUSH LOGS query_log`))
  const isInitial = asked === 'service' ? sql`is_initial_query` : sql`NOT is_initial_query`
  const { rows } = await admin.query<ShardWork>(
    statement(sql`
SELECT
  sum(read_rows) AS rows,
  sum(ProfileEvents['NetworkSendBytes']) AS sent,
  sum(ProfileEvents['OSCPUVirtualTimeMicroseconds']) / 1000 AS cpuMs,
  groupArray((toUnixTimestamp64Micro(event_time_microseconds) - toUnixTimestamp64Micro(query_start_time_microseconds)) / 1000) AS ms
FROM system.query_log
WHERE type = 'QueryFinish' AND user = 'reader' AND ${isInitial}
  AND query_kind = 'Select' AND (read_rows > 1 OR NOT is_initial_query)
  AND event_date >= yesterday() AND toUnixTimestamp64Micro(query_start_time_microseconds) >= ${int64(since)}`),
  )
  return rows[0] ?? { rows: 0, sent: 0, cpuMs: 0, ms: [] }
}
