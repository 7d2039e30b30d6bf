/** Compares the clock of this host with that of a store. */
import { MINUTE_MS } from '../lib/time.js'
import type { Connection } from './connection.js'
import { sql, statement } from './sql.js'

/** What the two clocks showed at one moment. */
export interface Clocks {
  readonly host: Date
  readonly store: Date
}

/** Clocks that differ by more are wrong: nothing is deleted by them. In milliseconds. */
export const MAX_SKEW_MS = MINUTE_MS

/** Reads both clocks: that of the host at the middle of a query. */
export async function readClocks(
  connection: Connection,
  now: () => Date,
  signal?: AbortSignal,
): Promise<Clocks> {
  const asked = now().getTime()
  const { rows } = await connection.query<{ ms: number }>(
    statement(sql`SELECT toUnixTimestamp64Milli(now64(3)) AS ms`),
    signal === undefined ? {} : { signal },
  )
  const answered = now().getTime()
  const [{ ms } = { ms: 0 }] = rows
  return { host: new Date((asked + answered) / 2), store: new Date(ms) }
}

/** Returns by how many milliseconds the clock of the host is ahead of the store's; negative if it is behind. */
export const getSkew = ({ host, store }: Clocks): number => host.getTime() - store.getTime()

/** Whether the clocks differ by no more than a minute. */
export const doClocksAgree = (clocks: Clocks): boolean => Math.abs(getSkew(clocks)) <= MAX_SKEW_MS

/** Returns what the clock shows that is behind all others. */
export const getEarliest = (clocks: readonly Clocks[]): Date =>
  new Date(Math.min(...clocks.flatMap(({ host, store }) => [host.getTime(), store.getTime()])))
