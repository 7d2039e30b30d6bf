/** The configuration of servers that know each other. */
import { expect, test } from '@jest/globals'
import { buildServerFiles } from '../../../src/cluster/server-files.js'

const ACCOUNT = { username: 'reader', passwordVariable: 'CLICKHOUSE_READER_PASSWORD' }

test('a single server needs none', () => {
  const only = { name: 'a', host: 'h', port: 9000, secure: false }
  expect(buildServerFiles([only], ACCOUNT)).toEqual([])
})

test('servers that talk over TLS', () => {
  const [first] = buildServerFiles(
    [
      { name: 'a--b', host: 'a.example', port: 9440, secure: true },
      { name: 'c', host: 'fd00::2', port: 9000, secure: false },
    ],
    ACCOUNT,
  )
  expect(first).toEqual({
    path: 'config.d/tallyhouse-cluster.xml',
    text: `<!-- The groups of servers that queries are run across. Made by "tallyhouse cluster config". -->
<clickhouse>
  <remote_servers>
    <tallyhouse_1_2>
      <!-- a- -b -->
      <shard><replica>
        <host>a.example</host><port>9440</port><secure>1</secure>
        <user>reader</user><password from_env="CLICKHOUSE_READER_PASSWORD"/>
      </replica></shard>
      <!-- c -->
      <shard><replica>
        <host>fd00::2</host><port>9000</port>
        <user>reader</user><password from_env="CLICKHOUSE_READER_PASSWORD"/>
      </replica></shard>
    </tallyhouse_1_2>
  </remote_servers>
</clickhouse>
`,
  })
})
