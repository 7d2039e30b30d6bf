/** `tallyhouse explain` shows how a query is run. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import type { PlanDescription } from '../../../src/analytics/plan/plan.js'
import { addExplain } from '../../../src/commands/explain/explain.js'
import { sql, statement } from '../../../src/clickhouse/sql.js'
import { runCli } from '../../support/cli/cli.js'
import { runCommand, formatServerUrl, type CommandResult } from '../../support/cli/commands.js'
import { createDatabase, type TestDatabase } from '../../support/store/database.js'
import { createWorld, NOW } from '../../support/world/world.js'

let database: TestDatabase
let folder: string
beforeAll(async () => {
  database = await createDatabase()
  folder = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-explain-'))
  const event = { timestamp: '2025-12-31T10:00:00Z', user_id: 'u1', country: 'DE' }
  await createWorld(database.store, [event], { id: 'shop', retentionDays: 1 })
  await createWorld(database.store, [event], { id: 'kiosk' })
  // Enough events to make reading rollups cheaper. The planner takes sizes from these rows.
  await database.store.writer.execute(
    statement(sql`INSERT INTO sessions_monthly (project_id, dimension, month, events, visits)
      SELECT 'shop', 'total', arrayJoin([toDate('2025-12-01'), '2026-01-01', '2026-02-01']), 1e9, 1e8`),
  )
})
afterAll(async () => {
  await database.drop()
  await rm(folder, { recursive: true })
})

/** Writes the body to a file and explains it. */
async function explain(
  body: unknown,
  args: readonly string[] = [],
  env = {},
  project = 'shop',
): Promise<CommandResult> {
  const file = path.join(folder, 'question.json')
  await writeFile(file, typeof body === 'string' ? body : JSON.stringify(body))
  return runCommand(addExplain, ['explain', '--project', project, ...args, file], {
    endpoint: database.endpoint,
    now: NOW,
    env,
  })
}

const QUESTION = {
  date_range: ['2025-12-30', '2026-01-31'],
  metrics: ['pageviews', 'bounce_rate'],
  group_by: ['interval:auto'],
  filters: [{ type: 'location', country: { operator: 'oneOf', value: ['DE'] } }],
}

const PERIOD = { from: '2025-12-30T00:00:00Z', to: '2026-01-31T23:59:59Z' }

test('the output has several parts, the last of which is the cost', async () => {
  const { stdout, ...rest } = await explain(QUESTION)
  expect(rest).toEqual({ stderr: '', error: undefined })
  const parts = stdout.split('\n\n')
  expect(parts.slice(0, 3)).toEqual([
    `period  2025-12-30T00:00:00Z to 2026-01-31T23:59:59Z
users   not counted`,
    `READ            BY       FOR                         FILTERED BY             PERIOD
sessions_daily  country  pageviews, visits, bounces  the value it counts by  2025-12-30T00:00:00Z to 2026-01-31T23:59:59Z`,
    `NOT READ           FOR                         REASON
sessions_monthly   pageviews, visits, bounces  its months do not add up to buckets of one day
pageviews_monthly  pageviews, visits, bounces  it does not count by country
events_monthly     pageviews                   it does not count by country`,
  ])
  expect(parts.slice(3)).toEqual([
    expect.stringMatching(
      /^WAY +ESTIMATED CPU MS\nsessions_daily +[\d.]+ +chosen\nsessions, events +[\d.]+$/,
    ),
    expect.stringMatching(/^SELECT\n {4}group_key,\n(.*\n)* +FROM sessions_daily\n/),
    expect.stringMatching(/^p0 +"shop"\n(p\d+ +.*\n)*p\d+ +\["DE"\]\n/),
    expect.stringMatching(/^rows read {3}\d+\nbytes read {2}\d+\nrows {8}33\nms {10}[\d.]+\n$/),
  ])
})

test('as JSON', async () => {
  const metrics = ['users', 'bounce_rate']
  const { stdout, ...rest } = await explain({ ...QUESTION, metrics, group_by: [] }, ['--json'])
  expect(rest).toEqual({ stderr: '', error: undefined })
  const explained = JSON.parse(stdout) as { parameters: object }
  const byCountry = { dimension: 'country', filteredBy: 'value', periods: [PERIOD] }
  const reason = 'other relations are estimated to take less time'
  const [users, visits] = [['users'], ['visits', 'bounces']]
  expect(explained).toEqual({
    period: PERIOD,
    reads: [
      { relation: 'sessions_daily', ...byCountry, measures: visits },
      { relation: 'users_daily', ...byCountry, measures: users },
    ],
    rejected: [
      { relation: 'sessions_monthly', measures: visits, reason },
      { relation: 'pageviews_monthly', measures: visits, reason: 'it does not count by country' },
      { relation: 'users_monthly', measures: users, reason },
    ],
    userCounting: 'all',
    considered: expect.arrayContaining([
      {
        name: 'sessions_monthly, users_monthly, sessions_daily, users_daily',
        ms: expect.any(Number),
        isChosen: false,
      },
      { name: 'sessions, events', ms: expect.any(Number), isChosen: false },
    ]),
    sql: expect.stringMatching(/^SELECT\n/),
    parameters: expect.any(Object),
    run: {
      rowsRead: expect.any(Number),
      bytesRead: expect.any(Number),
      ms: expect.any(Number),
      rows: 1,
    },
  })
  expect(Object.values(explained.parameters)).toContainEqual(['DE'])
})

test('what new users are counted from is explained', async () => {
  const body = { ...QUESTION, metrics: ['new_users'] }
  const { stdout, ...rest } = await explain(body, ['--json'])
  expect(rest).toEqual({ stderr: '', error: undefined })
  const { newUsers } = JSON.parse(stdout) as { newUsers: Readonly<Record<string, object>> }
  const measures = ['users']
  expect(newUsers).toMatchObject({
    users: { period: PERIOD, reads: [{ relation: 'users_daily', dimension: 'country', measures }] },
    everyone: {
      period: PERIOD,
      reads: [{ relation: 'users_daily', dimension: 'total', measures }],
    },
    earlier: { period: { from: '1970-01-01T00:00:00Z', to: '2025-12-29T23:59:59Z' } },
  })
  expect((await explain(body)).stdout).toContain('\n\nnew users: the users before the period\n\n')
})

test('totals are explained beside the rows, with one statement for both', async () => {
  const body = { ...QUESTION, metrics: ['pageviews'], include: { totals: true } }
  const { stdout, ...rest } = await explain(body, ['--json'])
  expect(rest).toEqual({ stderr: '', error: undefined })
  const { totals, sql: text } = JSON.parse(stdout) as { totals: object; sql: string }
  expect(text).toContain('CROSS JOIN')
  expect(totals).toMatchObject({
    period: PERIOD,
    reads: [{ relation: 'sessions_daily', dimension: 'country', measures: ['pageviews'] }],
    userCounting: 'all',
  })
  expect((await explain(body)).stdout).toContain('\n\ntotals\n\nREAD ')
})

test('a comparison is explained beside the rows, with one statement for both', async () => {
  const body = {
    ...QUESTION,
    metrics: ['pageviews'],
    compare: 'previous_year',
    include: { totals: true },
  }
  const { stdout, ...rest } = await explain(body, ['--json'])
  expect(rest).toEqual({ stderr: '', error: undefined })
  const { comparison, totals } = JSON.parse(stdout) as {
    comparison: PlanDescription
    totals: PlanDescription
  }
  const want = {
    reads: [{ relation: 'sessions_daily', dimension: 'country', measures: ['pageviews'] }],
  }
  expect(comparison).toMatchObject(want)
  expect(totals.comparison).toMatchObject(want)
  const { from, to } = comparison.period
  expect([from, to]).toEqual([PERIOD.from, PERIOD.to].map(subtractYear))
  expect((await explain(body)).stdout).toContain(`\n\ncompared with ${from} to ${to}\n\nREAD `)
})

const subtractYear = (moment: string): string =>
  `${Number(moment.slice(0, 4)) - 1}${moment.slice(4)}`

test('how the largest groups are found is explained before their series, with one statement for both', async () => {
  const body = { ...QUESTION, filters: [], metrics: ['users'], then_by: ['country'] }
  const { stdout, ...rest } = await explain(body, ['--json'])
  expect(rest).toEqual({ stderr: '', error: undefined })
  const explained = JSON.parse(stdout) as { ranking: object; sql: string }
  expect(explained.sql).toMatch(/^WITH\b/)
  const reads = [{ relation: 'users_daily', dimension: 'country', measures: ['users'] }]
  expect(explained).toMatchObject({ reads, ranking: { period: PERIOD } })
  expect(explained.ranking).toMatchObject({ userCounting: 'candidates' })
  const text = (await explain(body)).stdout
  expect(text).toMatch(/\n\nthe largest groups\n\nREAD (.*\n)+\n(.*\n)*\ntheir series\n\nREAD /)
})

test('retention is explained by the plans of its cohorts and of those who came later', async () => {
  const body = { interval: 'month', date_range: ['2025-12-01', '2025-12-31'], intervals: 2 }
  const args = ['--operation', 'retention']
  const { stdout, ...rest } = await explain(body, [...args, '--json'])
  expect(rest).toEqual({ stderr: '', error: undefined })
  const { cohorts, later, ...others } = JSON.parse(stdout) as Record<string, PlanDescription>
  const period = { from: '2025-12-01T00:00:00Z', to: '2025-12-31T23:59:59Z' }
  expect(others).toEqual({
    period,
    sql: expect.stringMatching(/^SELECT\n/),
    parameters: expect.any(Object),
    run: {
      rowsRead: expect.any(Number),
      bytesRead: expect.any(Number),
      ms: expect.any(Number),
      rows: 1,
    },
  })
  const reads = [{ relation: 'users_monthly', dimension: 'total', measures: ['users'] }]
  expect(cohorts).toMatchObject({ period, newUsers: { users: { period, reads } } })
  expect(later).toMatchObject({ period: { from: '2026-01-01T00:00:00Z' }, reads })
  const text = (await explain(body, args)).stdout
  expect(text).toMatch(
    /^period {2}2025-12-01.*\n\nthe cohorts\n\n(.*\n)*new users: the users of each group\n/,
  )
  expect(text).toContain('\n\nwho came after the period\n\nREAD ')
  const ahead = { ...body, date_range: ['2027-01-01', '2027-01-31'] }
  expect((await explain(ahead, args)).stdout).toBe(
    'period  2027-01-01T00:00:00Z to 2027-01-31T23:59:59Z\n\nnothing is read: the whole table lies ahead\n',
  )
})

test('a funnel is explained: rollups do not know the order of events', async () => {
  const body = {
    date_range: ['2025-12-01', '2025-12-31'],
    steps: [{ filters: [] }, { filters: [] }],
  }
  const args = ['--operation', 'funnel']
  const { stdout, ...rest } = await explain(body, args)
  expect(rest).toEqual({ stderr: '', error: undefined })
  expect(stdout.split('\n\n')).toEqual([
    'period  2025-12-01T00:00:00Z to 2025-12-31T23:59:59Z\nusers   counted for every group',
    expect.stringMatching(/^READ .*\nevents +- +users +- +2025-12-01T/),
    expect.stringMatching(
      /^NOT READ .*\nusers_monthly +users +it does not know the order of events\n/,
    ),
    expect.stringMatching(/^WAY .*\nevents +[\d.]+ +chosen$/),
    expect.stringMatching(/^SELECT\n/),
    expect.stringMatching(/^p0 +"shop"\n/),
    expect.stringMatching(/^rows read .*\nbytes read .*\nrows {8}1\nms /),
  ])
  expect(await explain({ ...body, steps: [] }, args)).toEqual({
    stdout: '',
    stderr: 'steps: must have at least 2 items\n',
    error: 'the query is invalid',
  })
})

test('parts of a period that are read from one relation are listed below each other', async () => {
  const range = ['2025-12-30T12:00:00Z', '2026-02-02T11:59:59Z']
  const { stdout } = await explain({ date_range: range, metrics: ['users'] })
  expect(stdout.split('\n\n').slice(0, 3)).toEqual([
    `period  2025-12-30T12:00:00Z to 2026-02-02T11:59:59Z
users   counted for every group`,
    `READ                                                            BY     FOR    FILTERED BY  PERIOD
users_monthly                                                   total  users  -            2026-01-01T00:00:00Z to 2026-01-31T23:59:59Z
users_daily                                                     total  users  -            2025-12-31T00:00:00Z to 2025-12-31T23:59:59Z
                                                                                           2026-02-01T00:00:00Z to 2026-02-01T23:59:59Z
sessions, and events of those that cross an edge of the period  -      users  -            2025-12-30T12:00:00Z to 2025-12-30T23:59:59Z
                                                                                           2026-02-02T00:00:00Z to 2026-02-02T11:59:59Z`,
    expect.stringMatching(/^WAY .*\nusers_monthly, users_daily, whole_sessions +[\d.]+ +chosen\n/),
  ])
})

test('a project with few events is read from them', async () => {
  const byPath = { ...QUESTION, metrics: ['users'], group_by: ['page:path'], filters: [] }
  const { stdout } = await explain(byPath, ['--json'], {}, 'kiosk')
  const { reads, considered, rejected } = JSON.parse(stdout) as PlanDescription
  expect(reads.map(({ relation }) => relation)).toEqual(['events'])
  expect(considered[0]).toEqual({ name: 'events', ms: expect.any(Number), isChosen: true })
  expect(considered).toContainEqual({
    name: 'pageviews_daily, users_daily',
    ms: expect.any(Number),
    isChosen: false,
  })
  expect(rejected).toContainEqual({
    relation: 'users_daily',
    measures: ['users'],
    reason: 'other relations are estimated to take less time',
  })
})

test('a query that exceeds the time limit is explained, too', async () => {
  const { stdout, ...rest } = await explain(QUESTION, ['--json'], { QUERY_TIMEOUT_MS: '1' })
  expect(JSON.parse(stdout)).toMatchObject({ period: PERIOD, run: null })
  expect(rest).toEqual({
    stderr: 'the query was cancelled\n',
    error:
      'The query took longer than its deadline and was stopped. Narrow date_range or add filters.',
  })
})

test('all starts with the first event, regardless of the retention of the project', async () => {
  const { stdout } = await explain({ date_range: 'all' }, ['--json'])
  expect(JSON.parse(stdout)).toMatchObject({
    period: { from: '2025-12-31T00:00:00Z', to: '2026-06-15T12:34:56Z' },
  })
})

describe('what cannot be explained', () => {
  test.each<[string, unknown, Omit<CommandResult, 'stdout'>]>([
    [
      'each validation error is one line, with the message of the service',
      { date_range: ['2026-02-01', '2026-01-01'], limit: 0, bogus: 1 },
      {
        stderr: `bogus: is not a known property
limit: must be at least 1
date_range: must not start after its end
`,
        error: 'the query is invalid',
      },
    ],
    [
      'no JSON',
      'nope',
      { stderr: 'body: is not valid JSON at line 1, column 1\n', error: 'the query is invalid' },
    ],
    ['nothing', '', { stderr: 'date_range: is required\n', error: 'the query is invalid' }],
    [
      'too much',
      ' '.repeat(65_537),
      { stderr: '', error: 'The request body is larger than 64 kB.' },
    ],
  ])('%s', async (_why, body, want) => {
    expect(await explain(body)).toEqual({ stdout: '', ...want })
  })

  test.each([
    ['a file that is not there', ['--project', 'shop', '/nowhere'], '/nowhere: no such file'],
    ['a folder', ['--project', 'shop', '/'], '/: is a folder'],
  ])('%s', async (_why, args, error) => {
    const given = { endpoint: database.endpoint, now: NOW }
    expect(await runCommand(addExplain, ['explain', ...args], given)).toEqual({
      stdout: '',
      stderr: '',
      error,
    })
  })
})

test('a query is read from standard input, and the project must exist', async () => {
  const env = { CLICKHOUSE_URL: formatServerUrl(database.endpoint) }
  const [known, unknown] = await Promise.all(
    ['shop', 'nobody'].map((id) =>
      runCli(['explain', '--project', id, '--json'], env, JSON.stringify(QUESTION)),
    ),
  )
  expect(known).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(known!.stdout)).toMatchObject({ period: PERIOD, run: { rows: 33 } })
  expect(unknown).toEqual({
    code: 1,
    stdout: '',
    stderr: 'tallyhouse: there is no project nobody\n',
  })
})
