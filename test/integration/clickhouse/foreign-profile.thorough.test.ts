/** On a shared server, the profile of an account may change what statements mean. Tallyhouse works as on its own engine. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { sql, statement } from '../../../src/clickhouse/sql.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { event, request } from '../../support/arbitrary/world.js'
import { startServer, type Server } from '../../support/engine/server.js'
import { createDatabase, type TestDatabase } from '../../support/store/database.js'
import { createWorld, runQuery, send, type SentEvent } from '../../support/world/world.js'

/** Settings that occur in profiles of shared servers. Each changes a number, or loses or doubles a row. */
const FOREIGN = {
  join_use_nulls: 1,
  transform_null_in: 1,
  aggregate_functions_null_for_empty: 1,
  empty_result_for_aggregation_by_empty_set: 1,
  group_by_use_nulls: 1,
  cast_keep_nullable: 1,
  insert_deduplicate: 0,
  lightweight_deletes_sync: 0,
  mutations_sync: 0,
  session_timezone: 'America/New_York',
  prefer_column_name_to_alias: 1,
  enable_positional_arguments: 0,
  any_join_distinct_right_table_keys: 1,
  count_distinct_implementation: 'uniq',
  union_default_mode: 'DISTINCT',
  date_time_output_format: 'unix_timestamp',
  extremes: 1,
  limit: 1,
  group_by_overflow_mode: 'any',
  read_overflow_mode: 'break',
  sort_overflow_mode: 'break',
  join_overflow_mode: 'break',
  set_overflow_mode: 'break',
  distinct_overflow_mode: 'break',
  transfer_overflow_mode: 'break',
}

const INHERITED = '<profile>foreign</profile>'

const SEED = 20_260_615
const QUERIES = 20

let server: Server
let database: TestDatabase
beforeAll(async () => {
  const settings = Object.entries(FOREIGN).map(([name, value]) => `<${name}>${value}</${name}>`)
  server = await startServer((users) =>
    users
      .replace('<admin/>', `<foreign>${settings.join('')}</foreign><admin>${INHERITED}</admin>`)
      .replace('<writer>', `<writer>${INHERITED}`)
      .replace('<reader>', `<reader>${INHERITED}`),
  )
  database = await createDatabase()
})
afterAll(async () => {
  await server.stop()
  await database.drop()
})

test.each(['admin', 'writer', 'reader'] as const)('the profile applies to the %s', async (name) => {
  const { url, accounts } = server.endpoint
  const { username, password } = accounts[name]
  const response = await fetch(`${url}/?extremes=0`, {
    method: 'POST',
    headers: { 'X-ClickHouse-User': username, 'X-ClickHouse-Key': password },
    body: `SELECT getSetting('insert_deduplicate'), getSetting('session_timezone')`,
  })
  expect(await response.text()).toBe('false\tAmerica/New_York\n')
})

test('queries return what they return on an engine of our own', async () => {
  const batch = fc.array(event, { minLength: 20, maxLength: 60, size: 'max' })
  const [first = [], second = []] = fc.sample(batch, { seed: SEED, numRuns: 2 })
  const build = async ({ store }: Server | TestDatabase): Promise<StoredProject> => {
    const project = await createWorld(store, first, { id: 'shared' })
    // Events of sessions that are stored already: they are deleted and written again.
    await send(store, project, second)
    return project
  }
  const [theirs, ours] = await Promise.all([build(server), build(database)])
  for (const asked of fc.sample(request, { seed: SEED, numRuns: QUERIES })) {
    expect(await runQuery(server.store, theirs, asked)).toEqual(
      await runQuery(database.store, ours, asked),
    )
  }
})

test('a row of a project that does not exist is rejected', async () => {
  const events: readonly SentEvent[] = [{ timestamp: '2026-06-15T10:00:00Z', project: 'nobody' }]
  const [theirs, ours] = await Promise.all([
    send(server.store, { id: '' }, events),
    send(database.store, { id: '' }, events),
  ])
  expect(theirs.rejections).toEqual(ours.rejections)
  expect(theirs.rejections).toHaveLength(1)
})

test('an insert that is repeated with its token changes nothing', async () => {
  const { writer } = server.store
  await writer.execute(
    statement(
      sql`CREATE TABLE once (n UInt8) ENGINE = MergeTree ORDER BY n SETTINGS non_replicated_deduplication_window = 10`,
    ),
  )
  const insert = statement(sql`INSERT INTO once SELECT 1`)
  await writer.execute(insert, { insert_deduplication_token: 'a' })
  await writer.execute(insert, { insert_deduplication_token: 'a' })
  const { rows } = await writer.query(statement(sql`SELECT toUInt8(count()) AS n FROM once`))
  expect(rows).toEqual([{ n: 1 }])
})
