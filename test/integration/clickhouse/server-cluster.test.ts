/** The files of `tallyhouse cluster config` make servers with the accounts of users.xml answer a query together. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createAddresses } from '../../../src/clickhouse/embedded/member.js'
import { sql, statement } from '../../../src/clickhouse/sql.js'
import { buildServerFiles } from '../../../src/cluster/server-files.js'
import { startServer, type Server } from '../../support/engine/server.js'

let servers: readonly Server[]

beforeAll(async () => {
  const addresses = await createAddresses(2)
  const files = buildServerFiles(
    addresses.map(({ nativePort }, i) => ({
      name: `shard${i + 1}`,
      host: '127.0.0.1',
      port: nativePort,
      secure: false,
    })),
    { username: 'reader', passwordVariable: 'CLICKHOUSE_READER_PASSWORD' },
  )
  const [first] = addresses
  servers = await Promise.all(
    addresses.map(({ endpoint, nativePort }) =>
      startServer(undefined, undefined, {
        // The accounts of a cluster are the same on all servers.
        endpoint: { ...endpoint, accounts: first!.endpoint.accounts },
        nativePort,
        files,
      }),
    ),
  )
}, 60_000)
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
