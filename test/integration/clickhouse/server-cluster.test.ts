/** The files of `tallyhouse cluster config` make servers with the accounts of users.xml answer a query together. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { sql, statement } from '../../../src/clickhouse/sql.js'
import { startServers, type ServerOfCluster } from '../../support/engine/servers.js'

let servers: readonly ServerOfCluster[]
beforeAll(async () => {
  servers = await startServers(2)
})
afterAll(() => Promise.all(servers.map((server) => server.stop())))

const ACROSS = sql`
SELECT sum(users) AS users, count() AS shards
FROM cluster(tallyhouse_1_2, view(SELECT uniqExact(user) AS users FROM tallyhouse.events))`

test.each([0, 1])('server %i asks both', async (i) => {
  const { rows } = await servers[i]!.store.reader.query(statement(ACROSS))
  expect(rows).toEqual([{ users: 0, shards: 2 }])
})

test('the reader has no other rights than before', async () => {
  const { rows } = await servers[1]!.store.reader.query<Record<string, string>>(
    statement(sql`SHOW GRANTS`),
  )
  const granted = rows.flatMap((row) => Object.values(row))
  expect(granted.filter((grant) => !grant.includes(' ON tallyhouse.'))).toEqual([
    'GRANT CREATE TEMPORARY TABLE ON *.* TO reader',
    'GRANT READ ON REMOTE TO reader',
  ])
})
