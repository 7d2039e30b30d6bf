import { expect, test } from '@jest/globals'
import {
  PACKAGE_MIGRATIONS,
  readMigrations,
} from '../../../../src/clickhouse/migrations/migration-files.js'
import {
  moveToReplica,
  replicateTable,
  toPlainEngine,
} from '../../../../src/clickhouse/replicas/engines.js'

const REPLICA = { name: 'a', path: '/tallyhouse/main/shard1', getQuorum: () => 2 }
const MONTH = 2_592_000

const REPLICATED = [
  {
    of: 'a table that recognises no repeated insert',
    query: 'CREATE TABLE IF NOT EXISTS t (x UInt8) ENGINE = MergeTree ORDER BY x',
    want: `CREATE TABLE IF NOT EXISTS t (x UInt8) ENGINE = ReplicatedMergeTree('/tallyhouse/main/shard1/t', 'a') ORDER BY x
SETTINGS replicated_deduplication_window = 0, replicated_deduplication_window_seconds = ${MONTH}`,
  },
  {
    of: 'a table with parameters and settings',
    query: `CREATE TABLE IF NOT EXISTS t (x UInt8) ENGINE = ReplacingMergeTree(x)
ORDER BY x
SETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1`,
    want: `CREATE TABLE IF NOT EXISTS t (x UInt8) ENGINE = ReplicatedReplacingMergeTree('/tallyhouse/main/shard1/t', 'a', x)
ORDER BY x
SETTINGS replicated_deduplication_window = 1000, replicated_deduplication_window_seconds = ${MONTH}, min_compressed_bytes_to_fsync_after_fetch = 1, fsync_after_insert = 1`,
  },
  {
    of: 'a table with other settings',
    query:
      'CREATE TABLE IF NOT EXISTS t (x UInt8) ENGINE = MergeTree ORDER BY x SETTINGS merge_with_ttl_timeout = 3600',
    want: `CREATE TABLE IF NOT EXISTS t (x UInt8) ENGINE = ReplicatedMergeTree('/tallyhouse/main/shard1/t', 'a') ORDER BY x SETTINGS replicated_deduplication_window = 0, replicated_deduplication_window_seconds = ${MONTH}, merge_with_ttl_timeout = 3600`,
  },
  {
    of: 'a table without rows',
    query: 'CREATE TABLE IF NOT EXISTS t (x UInt8) ENGINE = Null',
    want: 'CREATE TABLE IF NOT EXISTS t (x UInt8) ENGINE = Null',
  },
  {
    of: 'anything else',
    query: '-- Why.\nALTER TABLE t ADD COLUMN IF NOT EXISTS y String',
    want: '-- Why.\nALTER TABLE t ADD COLUMN IF NOT EXISTS y String',
  },
]

test.each(REPLICATED)('the replica of $of', ({ query, want }) => {
  expect(replicateTable(query, REPLICA)).toBe(want)
})

test('each table of the migrations gets a path of its own, and the windows of a replica', async () => {
  const migrations = await readMigrations(PACKAGE_MIGRATIONS)
  const tables = migrations
    .flatMap(({ statements }) => statements)
    .filter((text) => /ENGINE = \w*MergeTree/.test(text))
    .map((text) => replicateTable(text, REPLICA))
  const paths = tables.map(
    (text) => /ENGINE = Replicated\w*MergeTree\('([^']+)', 'a'/.exec(text)?.[1],
  )
  expect(new Set(paths).size).toBe(tables.length)
  expect(paths).not.toContain(undefined)
  for (const text of tables) {
    expect(text.match(/\breplicated_deduplication_window = \d+/g)).toHaveLength(1)
    expect(text).not.toContain('non_replicated')
  }
})

test.each([
  {
    engine: "ReplicatedMergeTree('/tallyhouse/main/shard1/t', 'a') ORDER BY x SETTINGS y = 1",
    plain: 'MergeTree() ORDER BY x SETTINGS y = 1',
  },
  {
    engine: "ReplicatedReplacingMergeTree('/it\\'s/t', 'a', version) ORDER BY x",
    plain: 'ReplacingMergeTree(version) ORDER BY x',
  },
  { engine: 'MergeTree ORDER BY x', plain: 'MergeTree ORDER BY x' },
  { engine: 'Null', plain: 'Null' },
])('the plain engine of $engine', ({ engine, plain }) => {
  expect(toPlainEngine(engine)).toBe(plain)
})

test('a table moves to another replica, and keeps texts that are like the name of its replica', () => {
  const create = (replica: string): string =>
    `CREATE TABLE d.t (x String DEFAULT 'a') ENGINE = ReplicatedMergeTree('/a/t', '${replica}') ORDER BY x`
  expect(moveToReplica(create('a'), 'a', 'b')).toBe(create('b'))
  expect(moveToReplica(create('c'), 'a', 'b')).toBe(create('c'))
})
