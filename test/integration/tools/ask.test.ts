/** `tallyhouse ask` queries a running service. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { RunningService } from '../../../src/bootstrap/serving/start-service.js'
import { runCli, type CliResult } from '../../support/cli/cli.js'
import { createDatabase, type TestDatabase } from '../../support/store/database.js'
import { createKeys, type TestKeys } from '../../support/world/keys.js'
import { startTestService } from '../../support/world/service.js'
import { createWorld, NOW } from '../../support/world/world.js'
import { EVENTS } from './shops.js'

let database: TestDatabase
let keys: TestKeys
let service: RunningService
let key: string

beforeAll(async () => {
  database = await createDatabase()
  const { store } = database
  keys = await createKeys(store)
  const project = await createWorld(store, EVENTS)
  key = await keys.issue(project.id, NOW)
  service = await startTestService({ store, now: () => NOW })
})
afterAll(async () => {
  await service.stop()
  await keys.remove()
  await database.drop()
})

const ask = (args: readonly string[], env: object = {}, input = ''): Promise<CliResult> =>
  runCli(
    ['ask', ...args],
    { TALLYHOUSE_URL: service.address, TALLYHOUSE_API_KEY: key, ...env },
    input,
  )

const BODY = { date_range: '30days', metrics: ['users'], group_by: ['country'], limit: 2 }

test('by options, as a table', async () => {
  const options = ['--metrics', 'users,pageviews', '--group-by', 'country']
  expect(await ask([...options, '--filter', 'country is DE,FR'])).toEqual({
    code: 0,
    stdout: 'COUNTRY  USERS  PAGEVIEWS\nDE       2      3\nFR       1      1\n',
    stderr: '',
  })
})

test('by a body, as CSV and as JSON', async () => {
  const input = JSON.stringify(BODY)
  expect(await ask(['--body', '-', '--format', 'csv'], {}, input)).toEqual({
    code: 0,
    stdout: 'country,users\r\nDE,2\r\nFR,1\n',
    stderr: '2 of 3 rows: --limit and --offset select others\n',
  })
  const { code, stdout, stderr } = await ask(['--body', '-', '--format', 'json'], {}, input)
  expect([code, stderr]).toEqual([0, ''])
  const response = await fetch(`${service.address}/v1/analytics/query`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: input,
  })
  expect(JSON.parse(stdout)).toEqual(await response.json())
})

test.each<[string, readonly string[], object, number, string]>([
  [
    'an invalid field',
    ['--metrics', 'users,visitors'],
    {},
    1,
    'metrics.1: must be one of: users, pageviews, events',
  ],
  ['another format', ['--format', 'xml'], {}, 2, 'Allowed choices are table, csv, json'],
  ['another limit', ['--limit', 'many'], {}, 2, 'Expected a whole number.'],
  ['a filter of another form', ['--filter', 'country'], {}, 1, 'a filter is JSON, or a field'],
  ['a file that is not there', ['--body', '/none.json'], {}, 1, '/none.json'],
  ['no key', [], { TALLYHOUSE_API_KEY: '' }, 1, 'TALLYHOUSE_API_KEY must be set'],
  ['another key', [], { TALLYHOUSE_API_KEY: 'th_secret' }, 1, 'UNAUTHORIZED: '],
  [
    'no service',
    [],
    { TALLYHOUSE_URL: 'http://127.0.0.1:1' },
    1,
    'http://127.0.0.1:1 does not respond',
  ],
])('%s is an error on standard error, which has no key', async (_, args, env, code, message) => {
  const result = await ask(args, env)
  expect([result.code, result.stdout]).toEqual([code, ''])
  expect(result.stderr).toContain(message)
  expect(result.stderr).not.toMatch(/th_/)
})
