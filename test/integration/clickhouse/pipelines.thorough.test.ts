/** The account, the commands and the view in the guide to pipelines work as they are printed there. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { sql, string } from '../../../src/clickhouse/sql.js'
import type { Store } from '../../../src/clickhouse/store.js'
import { packagePath } from '../../../src/lib/package-path.js'
import { select } from '../../support/store/facts.js'
import { startServer, type Server } from '../../support/engine/server.js'
import { loadInbox } from '../../support/store/stream.js'
import { newProject } from '../../support/world/world.js'

const shell = promisify(execFile)
const PASSWORD = 'a-secret'

const guide = (name: string): Promise<string> =>
  readFile(packagePath(`clickhouse/pipelines/${name}`), 'utf8')

let server: Server
let store: Store

beforeAll(async () => {
  const [, account] = /<users>([^]*)<\/users>/.exec(await guide('user.xml'))!
  server = await startServer((users) =>
    users.replace(
      '</users>',
      `${account!.replace(/<password [^>]*>/, `<password>${PASSWORD}</password>`)}</users>`,
    ),
  )
  store = server.store
  await newProject(store, { id: 'shop', domain: 'shop.example' })
})
afterAll(() => server.stop())

const paste = (command: string): Promise<{ stdout: string }> =>
  shell('bash', ['-ec', command.replaceAll('curl ', 'curl -sS --fail-with-body ')], {
    env: {
      PATH: '/usr/bin:/bin',
      CLICKHOUSE: server.endpoint.url,
      CLICKHOUSE_PIPELINE_PASSWORD: PASSWORD,
    },
  })

const paths = async (): Promise<readonly string[]> =>
  (
    await select<{ path: string }>(
      store,
      sql`SELECT path FROM events WHERE project_id = ${string('shop')} ORDER BY path`,
    )
  ).map(({ path }) => path)

test('the commands of the guide insert events, also if they are repeated', async () => {
  const commands = [...(await guide('README.md')).matchAll(/```sh\n([^]*?)```/g)].map(([, c]) => c!)
  expect(commands).toHaveLength(2)
  for (const command of [...commands, ...commands]) {
    expect(await paste(command)).toMatchObject({ stdout: '' })
  }
  await loadInbox(store)
  expect(await paths()).toEqual(['/cart', '/join', '/paid', '/welcome'])
})

test.each([
  ['reads nothing', 'SELECT line FROM inbox'],
  ['writes no other column', "INSERT INTO inbox (batch, line) VALUES ('x', '{}')"],
  ['writes no other table', "INSERT INTO events (project_id) VALUES ('shop')"],
])('the account of the guide %s', async (_what, query) => {
  const asked = paste(
    `curl "$CLICKHOUSE/?database=tallyhouse" --user "pipeline:$CLICKHOUSE_PIPELINE_PASSWORD" -d '${query.replaceAll("'", "'\\''")}'`,
  )
  await expect(asked).rejects.toMatchObject({ stdout: expect.stringMatching(/ACCESS_DENIED/) })
})

test('the view of the guide moves messages to the inbox', async () => {
  const statements = (await guide('kafka.sql'))
    .replaceAll(/^--.*$/gm, '')
    .split(';')
    .filter((text) => text.trim() !== '')
  for (const text of statements) {
    // The test inserts the messages that a broker would deliver.
    const query = text.replace(/ENGINE = Kafka[^]*/, 'ENGINE = Null')
    await store.admin.execute({ query, query_params: {} })
  }
  await store.admin.execute({
    query: `INSERT INTO tallyhouse.kafka_events FORMAT LineAsString
{"project":"shop","url":"https://shop.example/from-kafka","user_id":"k"}
{"project":"shop","url":"https://shop.example/from-kafka","user_id":"k"}`,
    query_params: {},
  })
  await loadInbox(store)
  expect((await paths()).filter((path) => path === '/from-kafka')).toHaveLength(2)
})

test('Vector sends to the same address as the command', async () => {
  const { sinks } = parse(await guide('vector.yaml')) as {
    sinks: { tallyhouse: { uri: string } }
  }
  const { search } = new URL(sinks.tallyhouse.uri)
  expect(await guide('README.md')).toContain(`$CLICKHOUSE/${search}"`)
})
