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
    stdout: 'COUNTRY  USERS  PAGEVIEWS\nDE           2          3\nFR           1          1\n',
    stderr: '',
  })
})

test('compared, as a table', async () => {
  const period = ['--period', '2026-06-02..2026-06-02', '--compare', '2026-06-01..2026-06-01']
  const options = ['--metrics', 'users,pageviews,bounce_rate', '--group-by', 'country']
  expect(await ask([...period, ...options])).toEqual({
    code: 0,
    stdout:
      'COUNTRY  USERS  BEFORE  CHANGE  PAGEVIEWS  BEFORE  CHANGE  BOUNCE_RATE  BEFORE   CHANGE\n' +
      'DE           1       1      0%          2       1   +100%            0     100  -100 pp\n',
    stderr: 'compared with 2026-06-01T00:00:00Z to 2026-06-01T23:59:59Z\n',
  })
})

test('the series of the largest groups, compared with the same weekdays, as CSV', async () => {
  const options = ['--period', '2026-06-03..2026-06-04', '--metrics', 'users', '--format', 'csv']
  const compared = ['--compare', 'previous_period', '--align', 'weekday']
  const grouped = ['--group-by', 'interval:day', '--then-by', 'country', '--top', '1']
  expect(await ask([...options, ...compared, ...grouped])).toEqual({
    code: 0,
    stdout:
      'date,country,users,comparison_users,comparison_change_users\r\n' +
      '2026-06-03T00:00:00Z,FR,1,0,\r\n2026-06-04T00:00:00Z,FR,0,0,\n',
    stderr: 'compared with 2026-05-27T00:00:00Z to 2026-05-28T23:59:59Z\n',
  })
})

test('nothing found', async () => {
  expect(await ask(['--group-by', 'country', '--filter', 'country is XX'])).toEqual({
    code: 0,
    stdout: '',
    stderr: 'no rows\nno event of this period has country "XX"; the most frequent are DE, FR, US\n',
  })
})

test.each([
  ['country is de', ['no event of this period has country "de"; did you mean "DE"?']],
  ['country is Germany', ['no event of this period has country "Germany"; did you mean "DE"?']],
  ['event:name is signups,signup', []],
  [
    'event:name is signups',
    ['no event of this period has event:name "signups"; did you mean "signup"?'],
  ],
  ['event:prop:plan is pro', ['no event of this period has event:prop:plan "pro"']],
  ['page:path contains /none', []],
  ['page:hash is none', []],
])('a filter that selects nothing, %s, is explained as far as possible', async (filter, notes) => {
  const { code, stderr } = await ask(['--filter', filter])
  expect([code, stderr.split('\n').filter((line) => line !== '')]).toEqual([0, notes])
})

const report = (args: readonly string[]): Promise<CliResult> =>
  runCli(['report', ...args], { TALLYHOUSE_URL: service.address, TALLYHOUSE_API_KEY: key })

const REPORT = `Test, 2026-06-02 to 2026-06-03

Totals
USERS  BEFORE  CHANGE  VISITS  BEFORE  CHANGE  PAGEVIEWS  BEFORE  CHANGE  BOUNCE_RATE  BEFORE   CHANGE
    2       1   +100%       2       1   +100%          3       1   +200%            0     100  -100 pp

Channels
CHANNEL  USERS  BEFORE  CHANGE
Direct       2       1   +100%

Pages
PAGE:PATH  USERS  BEFORE  CHANGE  PAGEVIEWS  BEFORE  CHANGE
/              2       1   +100%          2       1   +100%

Countries
COUNTRY  USERS  BEFORE  CHANGE
DE           1       1      0%

Events
EVENT:NAME  USERS  BEFORE  CHANGE  EVENTS  BEFORE  CHANGE
signup          1       0       -       1       0       -
`

test('a report, as text and as HTML', async () => {
  const options = ['--period', '2026-06-02..2026-06-03', '--top', '1']
  expect(await report(options)).toEqual({ code: 0, stdout: REPORT, stderr: '' })
  const { code, stdout } = await report([...options, '--format', 'html'])
  const cells = [...stdout.matchAll(/<t[hd] align="(left|right)">([^<]*)</g)]
  expect([code, cells.slice(-6).map(([, side, text]) => [side, text])]).toEqual([
    0,
    [
      ['right', '1'],
      ['right', '0'],
      ['right', '-'],
      ['right', '1'],
      ['right', '0'],
      ['right', '-'],
    ],
  ])
  expect(stdout).toContain('<title>Test, 2026-06-02 to 2026-06-03</title>')
})

test('a report names the days of its time zone', async () => {
  const { stdout } = await report([
    '--period',
    '2026-06-02..2026-06-02',
    '--time-zone',
    'Asia/Tokyo',
  ])
  expect(stdout.split('\n')[0]).toBe('Test, 2026-06-02')
})

test('a report that the service refuses is an error', async () => {
  expect(await report(['--period', '2026-06-02..2026-06-01'])).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'tallyhouse: VALIDATION_ERROR: The request is not valid: date_range must not start after its end.\n',
  })
})

test('all rows, as a table and as NDJSON', async () => {
  const options = ['--metrics', 'users', '--group-by', 'country', '--limit', 'all']
  expect(await ask(options)).toEqual({
    code: 0,
    stdout: 'COUNTRY  USERS\nDE           2\nFR           1\nUS           1\n',
    stderr: '',
  })
  expect(await ask([...options, '--format', 'ndjson'])).toEqual({
    code: 0,
    stdout: '{"country":"DE","users":2}\n{"country":"FR","users":1}\n{"country":"US","users":1}\n',
    stderr: '',
  })
  expect(JSON.parse((await ask(['--metrics', 'users', '--json'])).stdout)).toMatchObject({
    data: [{ metrics: { users: 4 } }],
  })
})

test('several faults are told one by one, and a single one once', async () => {
  const { stderr } = await ask(['--metrics', 'visitors', '--limit', '0'])
  expect(stderr.split('\n').map((line) => line.slice(0, 40))).toEqual([
    'metrics.0: must be one of: users, pagevi',
    'limit: must be at least 1',
    'tallyhouse: VALIDATION_ERROR: 2 fields of the request'.slice(0, 40),
    '',
  ])
  expect((await ask(['--limit', '0'])).stderr).toBe(
    'tallyhouse: VALIDATION_ERROR: The request is not valid: limit must be at least 1.\n',
  )
})

test.each(['bash', 'zsh', 'fish'])('%s completes commands and options', async (shell) => {
  const script = await runCli(['completion', shell], {})
  expect([script.code, script.stdout]).toEqual([0, expect.stringContaining('tallyhouse')])
  const { stdout } = await runCli(['complete', '--', 'ask', '--format', ''], {})
  expect(stdout.split('\n').map((line) => line.trim())).toEqual([
    'table',
    'csv',
    'ndjson',
    'json',
    ':4',
    '',
  ])
})

test('retention, by options and by a body', async () => {
  const period = ['--period', '2026-05-25..2026-06-07', '--interval', 'week']
  expect(await ask(['retention', ...period])).toEqual({
    code: 0,
    stdout:
      'START       USERS         +1\n2026-05-25      0          0\n2026-06-01      4  0 ( 0.0%)\n',
    stderr: '',
  })
  const input = JSON.stringify({ interval: 'day', date_range: ['2026-06-01', '2026-06-02'] })
  expect(await ask(['retention', '--body', '-', '--format', 'csv'], {}, input)).toEqual({
    code: 0,
    stdout:
      'cohort,size,interval,users\r\n2026-06-01T00:00:00Z,1,0,1\r\n2026-06-01T00:00:00Z,1,1,0\r\n' +
      '2026-06-02T00:00:00Z,1,0,1\r\n2026-06-02T00:00:00Z,1,1,0\n',
    stderr: '',
  })
})

test('a funnel, by options and by a body', async () => {
  const steps = ['--step', 'country is DE,FR', '--step', 'event:name is signup']
  expect(await ask(['funnel', ...steps, '--within', '1h'])).toEqual({
    code: 0,
    stdout:
      'STEP  USERS  SHARE_OF_FIRST  SHARE_OF_PREVIOUS  MEDIAN_SECONDS\n' +
      '   1      3             100                  -               -\n' +
      '   2      1           33.33              33.33              60\n',
    stderr: '',
  })
  const input = JSON.stringify({ date_range: 'today', steps: [{ filters: [] }, { filters: [] }] })
  const { code, stdout } = await ask(['funnel', '--body', '-', '--format', 'json'], {}, input)
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { data: [{ step: 1 }, { step: 2 }] }])
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
    'metrics.1 must be one of: users, pageviews, events',
  ],
  ['another format', ['--format', 'xml'], {}, 2, 'Allowed choices are table, csv, ndjson, json'],
  ['another limit', ['--limit', 'many'], {}, 2, 'Expected a whole number.'],
  [
    'options beside a body',
    ['--body', '-', '--limit', '3'],
    {},
    2,
    "cannot be used with option '--limit",
  ],
  [
    'options before retention',
    ['--period', 'today', 'retention'],
    {},
    2,
    "option '--period <period>' must follow 'retention'",
  ],
  ['another interval', ['retention', '--interval', 'hour'], {}, 2, 'Allowed choices are day,'],
  ['another time', ['funnel', '--within', 'soon'], {}, 2, 'Expected visit, or a time such as 90s'],
  ['a funnel without steps', ['funnel'], {}, 1, 'steps must have at least 2 items'],
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
