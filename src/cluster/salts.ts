/**
 * The salts of days, by which users without an id are derived. In a cluster the home makes them, so that a user is the same on
 * every shard, and stays the same when a project moves.
 */
import { Readable } from 'node:stream'
import type { Connection } from '../clickhouse/connection.js'
import { StoreUnavailableError } from '../clickhouse/errors.js'
import { withLease } from '../clickhouse/lease/lease.js'
import { sql, statement, strings, type Sql } from '../clickhouse/sql.js'

/** A salt of a day, as the home stores it. */
interface Salt {
  /** The day in UTC, such as 2026-01-31. */
  readonly day: string
  readonly salt: string
  /** Two days before it expires, in UTC: `2026-01-31 10:00:00`. Both copies expire together. */
  readonly created_at: string
}

/**
 * Gives a store the salts of days for which it has none; those that it has by then are left out.
 *
 * @param options.onlyKnown no salts are made: days for which the home has none are left out
 * @throws StoreUnavailableError when the home gives none
 */
export type ShareSalts = (
  days: readonly string[],
  options?: { readonly onlyKnown?: boolean },
) => Promise<readonly Salt[]>

/**
 * Salts are kept for two days after they were made, or after their day began if that is later: a salt is used for the visits of
 * its day, which go on until the end of the next day at the latest. One that is about to expire may be gone when it is used, so
 * its day gets another.
 */
export const IS_FRESH = sql`created_at > now() - INTERVAL 47 HOUR`

/** Stores new salts of the days that a query selects, as the column `day`. */
export const insertNewSalts = (days: Sql): Sql => sql`
INSERT INTO salts (day, salt, created_at)
SELECT day, lower(hex(randomString(16))), greatest(toDateTime(now(), 'UTC'), toDateTime(day, 'UTC')) FROM (${days})`

/** Returns the function that gives other stores the salts of the home, and makes those that it has not. */
export const createSaltSharing =
  (home: Connection): ShareSalts =>
  async (days, { onlyKnown = false } = {}) => {
    try {
      const known = await readSalts(home, days)
      if (onlyKnown || known.length === days.length) return known
      return await withLease(home, 'salts', () => makeSalts(home, days))
    } catch (cause) {
      // It says nothing about the rows of the load, whatever the home answers.
      throw new StoreUnavailableError('the home gives no salts of days', { cause })
    }
  }

/** The same for the home itself: its loader makes salts as it makes those of others, one process at a time. */
export const createSaltMaking =
  (home: Connection): ShareSalts =>
  async (days, options) => {
    await createSaltSharing(home)(days, options)
    return []
  }

/** Makes the missing ones. The caller holds the lease `salts`. */
async function makeSalts(home: Connection, days: readonly string[]): Promise<readonly Salt[]> {
  await home.execute(
    statement(
      insertNewSalts(sql`
SELECT day FROM (SELECT toDate(arrayJoin(${strings(days)})) AS day)
WHERE day NOT IN (SELECT day FROM salts WHERE ${IS_FRESH})`),
    ),
  )
  return readSalts(home, days)
}

async function readSalts(home: Connection, days: readonly string[]): Promise<readonly Salt[]> {
  const { rows } = await home.query<Salt>(
    statement(sql`
SELECT toString(day) AS day, tupleElement(first, 2) AS salt, toString(tupleElement(first, 1)) AS created_at
FROM (
  SELECT day, min((created_at, salt)) AS first FROM salts
  WHERE ${IS_FRESH} AND has(${strings(days)}, toString(day)) GROUP BY day
)`),
  )
  return rows
}

/** Stores salts that the home gave. They are sent as data: no statement has them in its text. */
export const storeSalts = (writer: Connection, salts: readonly Salt[]): Promise<void> =>
  writer.upload(
    statement(sql`INSERT INTO salts (day, salt, created_at) FORMAT JSONEachRow`),
    Readable.from([Buffer.from(salts.map((salt) => JSON.stringify(salt)).join('\n'))]),
    { async_insert: 0 },
  )
