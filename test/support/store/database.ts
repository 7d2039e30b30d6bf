/** Creates databases on the shared engine. A test file should share one among its tests. */
import { afterAll, beforeAll } from '@jest/globals'
import { randomUUID } from 'node:crypto'
import { connect } from '../../../src/clickhouse/connection.js'
import type { Endpoint } from '../../../src/clickhouse/endpoint.js'
import { identifier, sql, statement } from '../../../src/clickhouse/sql.js'
import { connectStore, type Store } from '../../../src/clickhouse/store.js'
import { getTestEndpoint } from '../engine/engine.js'
import { copyTemplate } from './template.js'

export interface TestDatabase {
  /** All three accounts are the admin: the others have rights on the service's own database only. */
  readonly endpoint: Endpoint
  readonly store: Store
  /** Closes the store and drops the database. */
  drop(): Promise<void>
}

/** Returns the endpoint of a database with a new name, which does not exist yet. */
export function newDatabase(): Endpoint {
  const { accounts, ...endpoint } = getTestEndpoint()
  const { admin } = accounts
  const database = `test_${randomUUID().replaceAll('-', '')}`
  return { ...endpoint, database, accounts: { admin, writer: admin, reader: admin } }
}

/** Creates a database with all tables and views, without rows. Takes about 0.25 s. */
export async function createDatabase(): Promise<TestDatabase> {
  const endpoint = newDatabase()
  await copyTemplate(endpoint)
  const store = connectStore(endpoint)
  return {
    endpoint,
    store,
    drop: async () => {
      await store.close()
      await dropDatabase(endpoint)
    },
  }
}

/** Gives the tests of a file or of a `describe` a database of their own, from before the first one until after the last. */
export function withDatabase(): Omit<TestDatabase, 'drop'> {
  let database: TestDatabase | undefined
  const get = (): TestDatabase => {
    if (database === undefined) throw new Error('The database exists only while tests run.')
    return database
  }
  beforeAll(async () => {
    database = await createDatabase()
  })
  afterAll(() => database?.drop())
  return {
    get endpoint() {
      return get().endpoint
    },
    get store() {
      return get().store
    },
  }
}

export async function dropDatabase(endpoint: Endpoint): Promise<void> {
  const outside = connect({ ...endpoint, database: 'system' }, 'admin')
  await outside.execute(
    statement(sql`DROP DATABASE IF EXISTS ${identifier(endpoint.database)} SYNC`),
  )
  await outside.close()
}
