/** Feeds events as an external pipeline does: it inserts rows into the inbox. */
import { Readable } from 'node:stream'
import { withLease } from '../../../src/clickhouse/lease/lease.js'
import { sql, statement } from '../../../src/clickhouse/sql.js'
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
