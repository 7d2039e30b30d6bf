/** Reads how much data projects have, and remembers it: the planner estimates the cost of a query by it. */
import { LRUCache } from 'lru-cache'
import type { Connection } from '../clickhouse/connection.js'
import { sql, statement, string, uint32, type Statement } from '../clickhouse/sql.js'
import { MINUTE_MS, SECOND_MS } from '../lib/time.js'
import { createNonce, requireOrigin, selectOrigin, type MarkedRow } from '../model/origin.js'
import type { MonthSize, ProjectSizes } from '../model/project-sizes.js'
import { TOTAL } from '../model/rollups.js'

/** Returns the sizes of a project; undefined if they are not known soon. Never rejects. */
export type ReadSizes = (projectId: string) => Promise<ProjectSizes | undefined>

/** How long sizes are used before they are read again. */
const LIFETIME_MS = MINUTE_MS
/** How long the first query of a project waits for its sizes. Later ones get those that are known. */
const WAIT_MS = 100
/** How long reading them may take. */
const TIMEOUT_MS = 2 * SECOND_MS
/** How many projects are remembered. */
const MAX_PROJECTS = 2_000
/** A project may have any number of event properties: those with the most values are kept. */
const MAX_DIMENSIONS = 100

interface Entry {
  /** The sizes that were read last. */
  known: ProjectSizes | undefined
  reading: Promise<ProjectSizes | undefined>
  begunAt: number
}

/** Creates a reader that remembers sizes for a minute, and then goes on using them while it reads them again. */
export function createSizesReader(connection: Connection, now: () => Date): ReadSizes {
  const entries = new LRUCache<string, Entry>({ max: MAX_PROJECTS })
  const begin = (projectId: string, former: ProjectSizes | undefined): Entry => {
    const entry: Entry = {
      known: former,
      reading: readProjectSizes(connection, projectId, now()).then(
        (sizes) => (entry.known = sizes),
        () => undefined,
      ),
      begunAt: performance.now(),
    }
    entries.set(projectId, entry)
    return entry
  }
  return async (projectId) => {
    const last = entries.get(projectId)
    const isFresh = last !== undefined && performance.now() - last.begunAt < LIFETIME_MS
    const { known, reading } = isFresh ? last : begin(projectId, last?.known)
    return known ?? (await withinTime(reading))
  }
}

/** Waits for a promise, but not for long. */
async function withinTime<T>(promise: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), WAIT_MS)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

interface SizeRow extends MarkedRow {
  readonly dimension: string
  readonly month: string
  readonly events: number
  readonly visits: number
  readonly values: number
}

/**
 * Reads the sizes of a project from its monthly rollups.
 *
 * @throws ApiError INTERNAL_ERROR for a row of another project or request, and the errors of a connection
 */
export async function readProjectSizes(
  connection: Connection,
  projectId: string,
  now: Date,
): Promise<ProjectSizes> {
  const nonce = createNonce()
  const { rows } = await connection.query<SizeRow>(selectSizes(projectId, nonce), {
    signal: AbortSignal.timeout(TIMEOUT_MS),
    settings: { max_threads: 1, max_execution_time: TIMEOUT_MS / SECOND_MS },
  })
  requireOrigin(rows, { projectId, nonce })
  const values = new Map<string, number>()
  for (const row of rows) {
    values.set(row.dimension, Math.max(row.values, values.get(row.dimension) ?? 0))
  }
  const months = rows
    .filter(({ dimension }) => dimension === TOTAL)
    .map(({ month, events, visits }): MonthSize => ({ month: new Date(month), events, visits }))
  return { readAt: now, months, values }
}

/** Selects the totals of all months, and how many values each dimension has in the last two months with data. */
function selectSizes(projectId: string, nonce: string): Statement {
  const id = string(projectId)
  const total = sql`project_id = ${id} AND dimension = ${string(TOTAL)}`
  const isRecent = sql`project_id = ${id} AND month >= last_month - INTERVAL 1 MONTH`
  const counts = sql`0 AS events, 0 AS visits, count() AS values`
  return statement(sql`
    WITH (SELECT max(month) FROM sessions_monthly WHERE ${total}) AS last_month
    SELECT dimension, toString(month) AS month, events, visits, values, ${selectOrigin(id, nonce)}
    FROM (
      SELECT dimension, month, sum(pageviews + sessions_monthly.events) AS events, sum(sessions_monthly.visits) AS visits, 1 AS values
      FROM sessions_monthly WHERE ${total} GROUP BY dimension, month
      UNION ALL
      SELECT dimension, month, ${counts} FROM sessions_monthly
      WHERE ${isRecent} AND dimension != ${string(TOTAL)} GROUP BY dimension, month
      UNION ALL
      SELECT dimension, month, ${counts} FROM pageviews_monthly WHERE ${isRecent} GROUP BY dimension, month
      UNION ALL
      SELECT dimension, month, ${counts} FROM events_monthly WHERE ${isRecent}
      GROUP BY dimension, month ORDER BY values DESC LIMIT ${uint32(MAX_DIMENSIONS)}
    )`)
}
