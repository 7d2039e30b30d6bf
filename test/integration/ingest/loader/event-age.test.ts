/** The loader rejects events of pipelines that are too old, and none that the collector accepted. */
import { expect, test } from '@jest/globals'
import { createLoaderContext } from '../../../../src/bootstrap/open-store.js'
import { withLease } from '../../../../src/clickhouse/lease/lease.js'
import { sql, statement } from '../../../../src/clickhouse/sql.js'
import { createInboxWriter } from '../../../../src/ingest/inbox/inbox-writer.js'
import { loadWaiting } from '../../../../src/ingest/loader/loader.js'
import { withDatabase } from '../../../support/store/database.js'
import { feed } from '../../../support/store/stream.js'
import { newProject } from '../../../support/world/world.js'

const ARRIVAL = '2026-03-10 12:00:00.000'
const OLD = 'timestamp: must be at most 30 days before its arrival; import older events from a file'

const database = withDatabase()

test('the age of an event from a pipeline counts from its arrival', async () => {
  const { store } = database
  const { id } = await newProject(store)
  const at = (timestamp: string, name: string) => ({ timestamp, name, user_id: 'u' })
  const pipeline = [
    at('2026-02-08T12:00:00.000Z', 'old enough'),
    at('2026-02-08T11:59:59.999Z', 'too old'),
    at('1970-01-01T00:00:00Z', 'much too old'),
    at('1969-12-31T00:00:00Z', 'of no year that is accepted'),
    { name: 'of its arrival', user_id: 'u' },
  ]
  await feed(store, id, pipeline, ARRIVAL)
  await createInboxWriter(store.writer).write({
    projectId: id,
    lines: [
      JSON.stringify(at('2020-01-01T00:00:00Z', 'accepted by a collector with a longer limit')),
    ],
    receivedAt: new Date('2026-03-10T12:00:00Z'),
  })
  await withLease(store.writer, 'loader', () => loadWaiting(store.writer, createLoaderContext(30)))
  const names = await store.writer.query<{ name: string }>(
    statement(sql`SELECT name FROM events ORDER BY timestamp`),
  )
  expect(names.rows.map(({ name }) => name)).toEqual([
    'accepted by a collector with a longer limit',
    'old enough',
    'of its arrival',
  ])
  const rejections = await store.writer.query<{ name: string; reason: string }>(
    statement(
      sql`SELECT JSONExtractString(line, 'name') AS name, reason FROM rejections ORDER BY name`,
    ),
  )
  expect(rejections.rows).toEqual([
    { name: 'much too old', reason: OLD },
    {
      name: 'of no year that is accepted',
      reason: 'timestamp: must lie between the years 1970 and 2099',
    },
    { name: 'too old', reason: OLD },
  ])
})
