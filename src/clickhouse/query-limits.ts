/** The limits of the API's queries. They are sent with each query, so they hold for any account of any server. */
import { SECOND_MS } from '../lib/time.js'
import type { Connection, Settings } from './connection.js'
import { QueryCancelledError, StoreUnavailableError } from './errors.js'
import { sql, statement, strings } from './sql.js'

/** What every query of the API keeps to. An account may have the same, but nothing else. */
const RULES = {
  // Allows no change of data, but settings.
  readonly: '2',
  // Works only with `readonly`.
  cancel_http_readonly_queries_on_client_close: 1,
  // A query that reaches a limit fails, instead of returning a part of its rows.
  timeout_overflow_mode: 'throw',
  group_by_overflow_mode: 'throw',
  result_overflow_mode: 'throw',
} as const satisfies Settings

const GIB = 1024 ** 3

/** Limits for an account that has none of its own. */
const LIMITS = {
  /** Bytes, as in clickhouse/config/users.xml. */
  max_memory_usage: GIB,
  max_rows_to_group_by: 10_000_000,
  max_result_rows: 1_000_000,
} as const

type LimitName = keyof typeof LIMITS

/** The time to read the limits of an account; a query waits for them once. */
const READ_TIMEOUT_MS = 4 * SECOND_MS

/**
 * Returns the settings of every query of the API. A limit that the account itself has is left as it is.
 *
 * @throws StoreUnavailableError when they cannot be read in time: this statement is cheap, so the store does not answer
 */
export async function readQueryLimits(reader: Connection): Promise<Settings> {
  const limits = statement(sql`
    SELECT name, max AS most FROM system.settings
    WHERE name IN ${strings(Object.keys(LIMITS))} AND value = '0' AND NOT readonly`)
  const { rows } = await reader
    .query<{ name: LimitName; most: string | null }>(limits, {
      signal: AbortSignal.timeout(READ_TIMEOUT_MS),
      settings: { max_threads: 1 },
    })
    .catch((cause: unknown) => {
      if (!(cause instanceof QueryCancelledError)) throw cause
      throw new StoreUnavailableError('the limits of the account cannot be read', { cause })
    })
  const missing = rows.map(({ name, most }): [LimitName, string] => [
    name,
    String(Math.min(LIMITS[name], Number(most ?? Infinity))),
  ])
  return { ...RULES, ...(Object.fromEntries(missing) as Settings) }
}

/** Calls `read` once; again only if it failed. */
export function readOnce<T>(read: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined
  const readAgain = async (): Promise<T> => {
    try {
      return await read()
    } catch (error) {
      result = undefined
      throw error
    }
  }
  return () => (result ??= readAgain())
}
