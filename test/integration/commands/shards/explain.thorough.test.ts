/** `tallyhouse explain` of a project across servers shows what each did, by its log. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { addExplain } from '../../../../src/commands/explain/explain.js'
import { sql, statement } from '../../../../src/clickhouse/sql.js'
import { createProject } from '../../../../src/cluster/directory.js'
import { runCommand, type CommandResult } from '../../../support/cli/commands.js'
import { SUPERVISOR } from '../../../support/engine/server.js'
import {
  formatClusterFile,
  startServers,
  type ServerOfCluster,
} from '../../../support/engine/servers.js'
import { NOW, send } from '../../../support/world/world.js'

let servers: readonly ServerOfCluster[]
let folder: string
/** How many events each server has. */
const EVENTS = [1, 300]

beforeAll(async () => {
  servers = await startServers(EVENTS.length)
  folder = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-explain-'))
  await writeFile(path.join(folder, 'cluster.yaml'), formatClusterFile(servers))
  const [home] = servers
  const fields = { id: 'wide', name: 'Wide', domain: 'wide.example' }
  const names = servers.map(({ name }) => name)
  const project = await createProject(
    { home: home!, shards: [home!, ...servers.slice(1)] },
    fields,
    new Date('2020-01-01T00:00:00Z'),
    names,
  )
  for (const [i, { store }] of servers.entries()) {
    const event = { timestamp: '2026-01-30T10:00:00Z', path: '/' }
    await send(
      store,
      project,
      Array.from({ length: EVENTS[i]! }, (_, n) => ({ ...event, user_id: `u${i}-${n}` })),
    )
  }
})
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()))
  await rm(folder, { recursive: true })
})

const QUESTION = { date_range: ['2026-01-01', '2026-01-31'], metrics: ['users', 'pageviews'] }

/** @param user the account that CLICKHOUSE_USER names */
async function explain(
  args: readonly string[],
  user = servers[0]!.endpoint.accounts.admin,
  question: object = QUESTION,
): Promise<CommandResult> {
  const file = path.join(folder, 'question.json')
  await writeFile(file, JSON.stringify(question))
  const { reader, writer } = servers[0]!.endpoint.accounts
  return runCommand(addExplain, ['explain', '--project', 'wide', ...args, file], {
    now: NOW,
    env: {
      CLUSTER: path.join(folder, 'cluster.yaml'),
      CLICKHOUSE_USER: user.username,
      CLICKHOUSE_PASSWORD: user.password,
      CLICKHOUSE_READER_USER: reader.username,
      CLICKHOUSE_READER_PASSWORD: reader.password,
      CLICKHOUSE_WRITER_USER: writer.username,
      CLICKHOUSE_WRITER_PASSWORD: writer.password,
    },
  })
}

test('as JSON', async () => {
  const { stdout, ...rest } = await explain(['--json'])
  expect(rest).toEqual({ stderr: '', error: undefined })
  const [ms, cpuMs] = [expect.any(Number), expect.any(Number)]
  const bytesRead = expect.any(Number)
  const sum = EVENTS.reduce((a, b) => a + b, 0)
  expect(JSON.parse(stdout)).toMatchObject({
    shards: ['shard1', 'shard2'],
    considered: expect.arrayContaining([
      { name: 'events', ms: expect.any(Number), askingMs: expect.any(Number), isChosen: true },
    ]),
    run: {
      ...{ rowsRead: sum, bytesRead, ms, rows: 1 },
      shards: EVENTS.map((rowsRead, i) => ({
        name: `shard${i + 1}`,
        ...{ rowsRead, bytesRead, ms, cpuMs },
      })),
      asking: { ms, cpuMs },
    },
  })
})

test('as text', async () => {
  const { stdout, ...rest } = await explain([])
  expect(rest).toEqual({ stderr: '', error: undefined })
  const parts = stdout.split('\n\n')
  expect(parts.find((part) => part.startsWith('WAY'))).toMatch(
    /^WAY +ESTIMATED CPU MS {2}ON SHARDS {2}ASKING\nevents +[\d.]+ +\d+\.\d +\d+\.\d +chosen\n/,
  )
  expect(parts.at(-1)).toMatch(
    new RegExp(
      [
        '^SHARD +ROWS READ  BYTES READ  MS +CPU MS',
        ...EVENTS.map((rows, i) => `shard${i + 1} +${rows} +[\\d,]+ +[\\d.]+ +[\\d.]+`),
        'asking +- +- +[\\d.]+ +[\\d.]+\n$',
      ].join('\n'),
    ),
  )
})

test('without the right to read the logs, what the shards did is left out', async () => {
  const { stdout, ...rest } = await explain(['--json'], SUPERVISOR)
  const reason = 'supervisor: Not enough privileges'
  const lines = servers.map(({ name }) => `what ${name} did is not known: ${reason}.*\n`)
  expect(rest).toEqual({
    stderr: expect.stringMatching(new RegExp(`^${lines.join('')}$`)),
    error: undefined,
  })
  expect(JSON.parse(stdout)).toMatchObject({ run: { rows: 1, shards: [], asking: null } })
})

describe('users counted last', () => {
  // Enough events and paths to make it pay. The planner takes sizes from these rows.
  beforeAll(async () => {
    const { writer } = servers[0]!.store
    await writer.execute(
      statement(sql`INSERT INTO sessions_monthly (project_id, dimension, month, events)
        VALUES ('wide', 'total', '2026-01-01', 1e9)`),
    )
    await writer.execute(
      statement(sql`INSERT INTO pageviews_monthly (project_id, dimension, value, month, pageviews)
        SELECT 'wide', 'page:path', toString(number), toDate('2026-01-01'), 1 FROM numbers(20000)`),
    )
  })

  test('one statement asks the shards twice', async () => {
    const { stdout, ...rest } = await explain(['--json'], servers[0]!.endpoint.accounts.admin, {
      ...QUESTION,
      group_by: ['page:path'],
      order_by: [['pageviews', 'desc']],
      limit: 1,
    })
    expect(rest).toEqual({ stderr: '', error: undefined })
    expect(JSON.parse(stdout)).toMatchObject({
      userCounting: 'page',
      sql: expect.stringMatching(/pageviews_monthly[^]+users_monthly/),
      run: {
        rows: 1,
        shards: EVENTS.map((_, i) => ({ name: `shard${i + 1}`, cpuMs: expect.any(Number) })),
        asking: { cpuMs: expect.any(Number) },
      },
    })
  })

  test('totals that no row has are read by another statement', async () => {
    const { stdout } = await explain([], servers[0]!.endpoint.accounts.admin, {
      ...QUESTION,
      group_by: ['page:path'],
      date_range: ['2020-01-01', '2020-01-31'],
      include: { totals: true },
    })
    const parts = stdout.split('\n\n')
    const first = parts.indexOf('statement 1 of 2')
    expect(parts.slice(first)).toEqual([
      'statement 1 of 2',
      ...[expect.stringMatching(/^SELECT/), expect.stringMatching(/^p0/)],
      expect.stringMatching(/^rows read .*\n.*\nrows +0\n/),
      'statement 2 of 2',
      ...[expect.stringMatching(/^SELECT/), expect.stringMatching(/^p0/)],
      expect.stringMatching(/^rows read .*\n.*\nrows +1\n/),
      'in all',
      expect.stringMatching(/^rows read .*\n.*\nrows +0\n/),
      expect.stringMatching(/^SHARD/),
    ])
  })
})
