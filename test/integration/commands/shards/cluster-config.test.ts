/** `tallyhouse cluster config` prints the files of the servers, or writes them, and never a password. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { addCluster } from '../../../../src/commands/cluster/cluster.js'
import { packagePath } from '../../../../src/lib/package-path.js'
import { runCommand, type CommandResult } from '../../../support/cli/commands.js'

const COMPOSED = packagePath('clickhouse/config/cluster')
const FILES = ['config.d/tallyhouse-cluster.xml', 'users.d/tallyhouse-cluster.xml']
const SECRET = 'do-not-print'

const credentials = { username: 'u', password: 'p' }
const endpoint = {
  url: 'http://127.0.0.1:1',
  database: 'tallyhouse',
  accounts: { admin: credentials, writer: credentials, reader: credentials },
}
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-cluster-'))
})
afterAll(() => rm(folder, { recursive: true }))

const runConfig = (env: NodeJS.ProcessEnv, ...args: readonly string[]): Promise<CommandResult> =>
  runCommand(addCluster, ['cluster', 'config', ...args], {
    endpoint,
    now: new Date(0),
    env: { CLICKHOUSE_URL: '', ...env },
  })

const SERVERS = {
  CLUSTER: path.join(COMPOSED, 'cluster.yaml'),
  CLICKHOUSE_USER: 'admin',
  CLICKHOUSE_PASSWORD: SECRET,
  CLICKHOUSE_READER_USER: 'reader',
  CLICKHOUSE_READER_PASSWORD: SECRET,
}

test('it prints the files', async () => {
  const { stdout, stderr, error } = await runConfig(SERVERS)
  const texts = await Promise.all(FILES.map((file) => readFile(path.join(COMPOSED, file), 'utf8')))
  const want = FILES.map((file, i) => `<!-- /etc/clickhouse-server/${file} -->\n${texts[i] ?? ''}`)
  expect({ stdout, error }).toEqual({ stdout: `${want.join('\n')}\n`, error: undefined })
  expect(stderr)
    .toBe(`Put these files into /etc/clickhouse-server on every server, and CLICKHOUSE_READER_PASSWORD into its environment.
If reader is not an account of users.xml, leave the second file out and run on every server:
  GRANT READ ON REMOTE TO reader
  GRANT CREATE TEMPORARY TABLE ON *.* TO reader
`)
})

test('it writes the files', async () => {
  const { stdout } = await runConfig(SERVERS, '--out', folder)
  expect(stdout).toBe('')
  for (const file of FILES) {
    expect(await readFile(path.join(folder, file), 'utf8')).toBe(
      await readFile(path.join(COMPOSED, file), 'utf8'),
    )
  }
})

test('a single server needs no files', async () => {
  const file = path.join(folder, 'one.yaml')
  await writeFile(file, 'shards: [{ name: a, url: "http://h", native: "h:9000" }]\n')
  expect(await runConfig({ CLUSTER: file })).toEqual({
    stdout: '',
    stderr: 'A single server needs no further configuration.\n',
    error: undefined,
  })
})

test('without servers it says what is missing', async () => {
  expect((await runConfig({})).error).toBe(
    'CLUSTER is not set: name the file that lists the servers',
  )
})
