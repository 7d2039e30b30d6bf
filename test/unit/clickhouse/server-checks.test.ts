/** The checks of a server: what each makes of the server's answers. */
import { expect, test } from '@jest/globals'
import type { Endpoint } from '../../../src/clickhouse/endpoint.js'
import { judge, SERVER_CHECKS } from '../../../src/clickhouse/checks/server-checks.js'

const account = (username: string) => ({ username, password: '' })
const ENDPOINT: Endpoint = {
  url: 'http://localhost:8123',
  database: 'stats',
  accounts: { admin: account('admin'), writer: account('writer'), reader: account('reader') },
}
const ONE_ACCOUNT = { ...ENDPOINT, accounts: { ...ENDPOINT.accounts, reader: account('writer') } }

const REPLICA = { ...ENDPOINT, replica: { name: 'a', path: '/stats', getQuorum: () => 2 } }

const VERSION = 'the version of ClickHouse'
const SERVERS = 'one server'
const DATABASE = 'the engine of the database'
const TABLES = 'the engines of the tables'
const ACCOUNTS = 'accounts of their own'
const RIGHTS = 'the rights of the reader'

type Row = Readonly<Record<string, string | number>>

test.each<[string, readonly Row[], string, (string | undefined)?, Endpoint?]>([
  [VERSION, [{ version: '26.7.3.19' }], 'fit'],
  [VERSION, [{ version: '26.7.1.1' }], 'fit'],
  [VERSION, [{ version: '27.1.1.1' }], 'fit'],
  [
    VERSION,
    [{ version: '25.8.12.1' }],
    'refuse',
    'ClickHouse 25.8.12.1 is older than 26.7: upgrade it to 26.7 or newer',
  ],
  [
    VERSION,
    [{ version: '26.6.9.1' }],
    'refuse',
    'ClickHouse 26.6.9.1 is older than 26.7: upgrade it to 26.7 or newer',
  ],
  [SERVERS, [{ server: 'a 1' }, { server: 'a 1' }], 'fit'],
  [
    SERVERS,
    [{ server: 'a 1' }, { server: 'b 2' }, { server: 'a 1' }],
    'refuse',
    '2 servers answer at one address: name a single server in CLICKHOUSE_URL, not a balancer or a cluster',
  ],
  [DATABASE, [], 'fit'],
  [DATABASE, [{ engine: 'Atomic' }], 'fit'],
  [
    DATABASE,
    [{ engine: 'Replicated' }],
    'refuse',
    'the database stats has the engine Replicated, not Atomic: create a database with ENGINE = Atomic, and name it in CLICKHOUSE_URL',
  ],
  [TABLES, [{ name: 'orders', engine: 'ReplicatedMergeTree' }], 'fit'],
  [
    TABLES,
    [
      { name: 'a', engine: 'ReplicatedMergeTree' },
      { name: 'inbox', engine: 'SharedMergeTree' },
    ],
    'refuse',
    'the table inbox has the engine SharedMergeTree: use a server that keeps plain MergeTree tables, or name its replicas in CLUSTER; not ClickHouse Cloud',
  ],
  [TABLES, [{ name: 'inbox', engine: 'ReplicatedMergeTree' }], 'fit', undefined, REPLICA],
  [
    TABLES,
    [{ name: 'inbox', engine: 'SharedMergeTree' }],
    'refuse',
    'the table inbox has the engine SharedMergeTree: use a server that keeps plain MergeTree tables, or name its replicas in CLUSTER; not ClickHouse Cloud',
    REPLICA,
  ],
  [ACCOUNTS, [], 'fit'],
  [
    ACCOUNTS,
    [],
    'warn',
    'queries run as writer, the account that loads events: set CLICKHOUSE_READER_USER to an account that may only read',
    ONE_ACCOUNT,
  ],
  [RIGHTS, [{ grant: 'GRANT SELECT ON stats.* TO reader' }], 'fit'],
  [RIGHTS, [{ grant: 'GRANT SELECT(query_id, user) ON system.processes TO reader' }], 'fit'],
  ...['GRANT ALL ON *.* TO reader', 'GRANT SELECT, INSERT ON stats.* TO reader'].map(
    (grant): [string, readonly Row[], string, string] => [
      RIGHTS,
      [{ grant }],
      'warn',
      'the account for queries, reader, may write: grant it SELECT only, as clickhouse/config/users.xml does',
    ],
  ),
])('%s: %j is %s', (name, rows, verdict, ...[message, endpoint = ENDPOINT]) => {
  const check = SERVER_CHECKS.find((one) => one.name === name)!
  const { fault, advice, ...rest } = judge(check, rows, endpoint)
  const said = fault === undefined ? undefined : `${fault}: ${advice ?? ''}`
  expect({ ...rest, message: said }).toEqual({ name, verdict, message })
})
