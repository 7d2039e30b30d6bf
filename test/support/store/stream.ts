/** Feeds events as an external pipeline does: it inserts rows into the inbox. */
import { Readable } from 'node:stream'
import { SettingsMap } from '@clickhouse/client'
import type { Connection } from '../../../src/clickhouse/connection.js'
import { withLease } from '../../../src/clickhouse/lease/lease.js'
import { sql, statement, string } from '../../../src/clickhouse/sql.js'
import type { Store } from '../../../src/clickhouse/store.js'
import { fenceConnection } from '../../../src/clickhouse/connection-wrappers.js'
import type { Geoip } from '../../../src/ingest/enrichment/geoip.js'
import { loadWaiting } from './loading.js'

/** Writes lines for a project in one insert. `arrival` is their time of arrival; the default is the current time. */
export async function feed(
  { writer }: Store,
  project: string,
  lines: readonly (object | string)[],
  arrival?: string,
): Promise<void> {
  const rows = lines.map((line) =>
    JSON.stringify([
      project,
      typeof line === 'string' ? line : JSON.stringify(line),
      ...(arrival === undefined ? [] : [arrival]),
    ]),
  )
  const received = arrival === undefined ? sql`` : sql`, received_at`
  await writer.upload(
    statement(sql`INSERT INTO inbox (project, line${received}) FORMAT JSONCompactEachRow`),
    Readable.from([Buffer.from(rows.join('\n'))]),
    { async_insert: 0 },
  )
}

/** Loads the rows of the inbox, as the loader of the service does. */
export const loadInbox = ({ writer }: Store, geoip?: Geoip): Promise<void> =>
  withLease(writer, 'loader', ({ signal }) => loadWaiting(fenceConnection(writer, signal), geoip))

/** Returns the number of the block of the stream that has a line with this text. */
export async function findBlock({ writer }: Store, text: string): Promise<number> {
  const { rows } = await writer.query<{ block: number }>(
    statement(sql`
SELECT max(_block_number) AS block FROM inbox WHERE batch = '' AND position(line, ${string(text)}) > 0`),
  )
  return rows[0]?.block ?? 0
}

/** Returns a connection that does not see some blocks of the inbox, as if they were to become visible later. */
export function hideBlocks(connection: Connection, blocks: readonly number[]): Connection {
  const isSeen = `_block_number NOT IN (${[-1, ...blocks].join()})`
  const additional_table_filters = SettingsMap.from({ inbox: isSeen })
  return {
    ...connection,
    query: (text, options) =>
      connection.query(text, {
        ...options,
        settings: { ...options?.settings, additional_table_filters },
      }),
    execute: (text, settings, signal) =>
      connection.execute(text, { ...settings, additional_table_filters }, signal),
  }
}
