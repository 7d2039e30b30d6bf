/** Counts the queries of projects: in memory, and every few seconds in the table `query_usage`. */
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Connection } from '../clickhouse/connection.js'
import { sql, statement } from '../clickhouse/sql.js'
import { ONE_BLOCK } from '../ingest/inbox/one-block.js'
import type { Logger } from '../lib/log.js'
import { startRepeating } from '../lib/repeat.js'
import { formatDay, SECOND_MS } from '../lib/time.js'

export interface QueryUsage {
  /** Counts a query of a project, for the current day (UTC). Writes nothing. */
  count(projectId: string): void
  /** Writes what is not written yet, and ends. Never rejects. */
  stop(): Promise<void>
}

interface QueryUsageOptions {
  /** The connection to the home of the cluster. */
  readonly writer: Connection
  readonly now: () => Date
  readonly logger: Logger
  /** Milliseconds from one write to the next. */
  readonly intervalMs?: number
}

/** The most that a server that is killed may leave uncounted. */
const INTERVAL_MS = 5 * SECOND_MS

/** Counts that are written with one insert, and with the same token again if it fails: so they are added once. */
interface Batch {
  readonly token: string
  readonly lines: string
}

const INSERT = statement(
  sql`INSERT INTO query_usage (project_id, day, queries) FORMAT JSONCompactEachRow`,
)

/**
 * Starts to count queries. A write that fails is repeated, and delays nothing: what comes meanwhile is counted in memory. The counts
 * of a process that is killed are lost from the last write on.
 */
export function createQueryUsage({
  writer,
  now,
  logger,
  intervalMs = INTERVAL_MS,
}: QueryUsageOptions): QueryUsage {
  /** By the beginning of the line: the project and the day. */
  let counts = new Map<string, number>()
  let unwritten: Batch | undefined
  let isFailing = false

  const takeBatch = (): Batch | undefined => {
    if (counts.size === 0) return undefined
    const lines = [...counts].map(([start, count]) => `${start}${count}]`).join('\n')
    counts = new Map()
    return { token: `queries-${randomUUID()}`, lines }
  }
  const write = async (): Promise<void> => {
    try {
      while ((unwritten ??= takeBatch()) !== undefined) {
        const { token, lines } = unwritten
        await writer.upload(INSERT, Readable.from([Buffer.from(lines)]), {
          ...ONE_BLOCK,
          async_insert: 0,
          insert_deduplication_token: token,
        })
        unwritten = undefined
      }
      isFailing = false
    } catch (error) {
      // The store may be away for long: it is logged once.
      if (!isFailing) logger.warn({ err: error }, 'the numbers of queries could not be written')
      isFailing = true
    }
  }
  const stopWriting = startRepeating(write, intervalMs)
  return {
    count: (projectId) => {
      const start = `[${JSON.stringify(projectId)},"${formatDay(now())}",`
      counts.set(start, (counts.get(start) ?? 0) + 1)
    },
    stop: async () => {
      await stopWriting()
      await write()
    },
  }
}
