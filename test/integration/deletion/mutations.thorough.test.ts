/**
 * Mutations are applied again to parts that come back with a restart, so they name no table that is dropped by then. A load
 * makes one per table, since each costs a new version of every part, and ClickHouse may skip one of several that begin at the
 * same moment.
 */
import { expect, test } from '@jest/globals'
import type { Connection } from '../../../src/clickhouse/connection.js'
import { sql } from '../../../src/clickhouse/sql.js'
import { startExpiration } from '../../../src/deletion/expiration-journal.js'
import { withDatabase } from '../../support/store/database.js'
import { select } from '../../support/store/facts.js'
import { deleteUser, finishInterruptedWork } from '../../support/store/loading.js'
import { newProject, send, type SentEvent } from '../../support/world/world.js'

const database = withDatabase()

const visit = (user_id: string, timestamp: string, country: string): SentEvent => ({
  timestamp,
  user_id,
  country,
})

const STORED = [
  visit('moved', '2026-01-31T10:00:00Z', 'DE'),
  visit('deleted', '2026-01-31T10:00:00Z', 'DE'),
  visit('expired', '2025-11-10T10:00:00Z', 'DE'),
  visit('expired', '2026-01-10T10:00:00Z', 'DE'),
]

/** The table of each mutation, and whether it names a table of a load, a deletion or an expiration. */
const listMutations = (): Promise<readonly unknown[]> =>
  select(
    database.store,
    sql`
SELECT DISTINCT table, match(command, '(load|removal)_[0-9]+_') AS namesTemporaryTable FROM system.mutations
WHERE database = currentDatabase() ORDER BY table, namesTemporaryTable`,
  )

/** Expects that mutations of some tables were made, and that none of any table names a temporary one. */
async function expectMutations(...tables: readonly string[]): Promise<void> {
  const mutations = await listMutations()
  const expected = tables.map((table) => ({ table, namesTemporaryTable: 0 }))
  expect(mutations).toEqual(expect.arrayContaining(expected))
  expect(mutations).not.toContainEqual(expect.objectContaining({ namesTemporaryTable: 1 }))
}

test('mutations of a load with moved events name no table of the load', async () => {
  const { store } = database
  const project = await newProject(store)
  await send(store, project, STORED)
  await send(store, project, [visit('moved', '2026-01-31T09:50:00Z', 'AT')])
  await expectMutations('events', 'users_daily', 'users_monthly')
})

test('mutations of deletions and expirations name none of their tables', async () => {
  const { store } = database
  const project = await newProject(store)
  await send(store, project, STORED)
  await deleteUser(store, project.id, 'deleted')
  await startExpiration(store.writer, { projectId: project.id, keptFrom: '2026-01-17' })
  await finishInterruptedWork(store.writer)
  await expectMutations('events', 'users', 'user_keys', 'users_daily', 'users_monthly')
})

/** Returns a connection that counts the deletes from each table. */
function countDeletes(writer: Connection): [Connection, Record<string, number>] {
  const deletes: Record<string, number> = {}
  const execute: Connection['execute'] = (statement, ...options) => {
    const [, table] = /ALTER TABLE (\w+) UPDATE _row_exists/.exec(statement.query) ?? []
    if (table !== undefined) deletes[table] = (deletes[table] ?? 0) + 1
    return writer.execute(statement, ...options)
  }
  return [{ ...writer, execute }, deletes]
}

test('a load with moved events of several months and years deletes from each table with one statement', async () => {
  const { store } = database
  const project = await newProject(store)
  const days = ['2025-11-10', '2025-12-10', '2026-01-10']
  await send(
    store,
    project,
    days.map((day) => visit('moved', `${day}T10:00:00Z`, 'DE')),
  )
  const [writer, deletes] = countDeletes(store.writer)
  await send(
    { ...store, writer },
    project,
    days.map((day) => visit('moved', `${day}T09:50:00Z`, 'AT')),
  )
  expect(deletes).toEqual({ events: 1, users_daily: 1, users_monthly: 1 })
})
