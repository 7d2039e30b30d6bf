/** The checks of a server on a real engine. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { connect, type Connection } from '../../../src/clickhouse/connection.js'
import { checkServer, requireFitServer } from '../../../src/clickhouse/checks/server-checks.js'
import { identifier, sql, statement } from '../../../src/clickhouse/sql.js'
import { getTestEndpoint } from '../../support/engine/engine.js'
import { dropDatabase, newDatabase } from '../../support/store/database.js'

const endpoint = newDatabase()
let outside: Connection
beforeAll(() => {
  outside = connect({ ...endpoint, database: 'system' }, 'admin')
})
afterAll(async () => {
  await outside.close()
  await dropDatabase(endpoint)
})

test('the embedded engine with its accounts has no fault', async () => {
  const checked = await checkServer(getTestEndpoint())
  expect(checked.map(({ verdict, fault }) => [verdict, fault])).toEqual(
    checked.map(() => ['fit', undefined]),
  )
})

test('one account for everything is worth two warnings, also before there is a database', async () => {
  expect(await requireFitServer(endpoint)).toEqual([
    expect.stringMatching(/^queries run as admin, the account that loads events: set /),
    expect.stringMatching(/^the account for queries, admin, may write: grant it SELECT only/),
  ])
})

test('a database with another engine is refused', async () => {
  const name = identifier(endpoint.database)
  await outside.execute(statement(sql`CREATE DATABASE ${name} ENGINE = Memory`))
  await expect(requireFitServer(endpoint)).rejects.toThrow(
    `the database ${endpoint.database} has the engine Memory, not Atomic: create a database with ENGINE = Atomic`,
  )
})
