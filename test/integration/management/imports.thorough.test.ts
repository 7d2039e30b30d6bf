/** Imports over HTTP that take long: formats, rejected rows, deletions, several services, and kills. */
import { expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Operation } from '../../../src/contract/management-api.js'
import { sql, statement } from '../../../src/clickhouse/sql.js'
import { runCli } from '../../support/cli/cli.js'
import { scaled } from '../../support/effort.js'
import { createEnv, runService } from '../../support/kills/service.js'
import { writeFile as writeColumnar } from '../../support/sources/columnar.js'
import { until } from '../../support/until.js'
import { aDataDir } from '../clickhouse/embedded/support.js'
import { AT, codeOf, importing, line, RESULT } from './importing.js'
import { NOW, withManagement } from './management.js'

const service = withManagement()
const { send } = service
const { upload, sendSlowly, readOperation, makeProject, importFile, countPieces } =
  importing(service)

const EVENT = { timestamp: AT, user_id: 'u', name: 'pageview' }
const COLUMNS = Object.entries(EVENT)
  .map(([name, value]) => `'${value}' AS ${name}`)
  .join(', ')
const CSV = `when,who\n2026-03-09 11:00:00,u\n`
const LOG = `192.0.2.7 - u [09/Mar/2026:11:00:00 +0100] "GET /a HTTP/1.1" 200 12 "-" "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"\n`

const FORMATS: readonly (readonly [string, () => Promise<string | Buffer>, string])[] = [
  ['ndjson', () => Promise.resolve(JSON.stringify(EVENT)), ''],
  [
    'csv',
    () => Promise.resolve(CSV),
    '?map=timestamp%3Dwhen&map=user_id=who&zone=Europe/Berlin&format=csv',
  ],
  ['a log', () => Promise.resolve(LOG), '?origin=https://shop.example'],
  ['parquet', () => writeColumnar('Parquet', `SELECT ${COLUMNS}`), ''],
  ['arrow', () => writeColumnar('ArrowStream', `SELECT ${COLUMNS}`), ''],
]

test('every format and setting of the command is taken', async () => {
  await makeProject('formats')
  const results: unknown[] = []
  for (const [name, make, query] of FORMATS) {
    const { result } = await importFile('formats', await make(), query)
    results.push([name, result?.loaded, result?.first])
  }
  expect(results).toEqual(FORMATS.map(([name]) => [name, 1, AT]))
})

test('rejected rows are kept with their reasons, and a dry run loads nothing', async () => {
  await makeProject('rejecting')
  const file = `nope\n${line('a')}${line('b', { bogus: 1 })}`
  const rejected = `${[
    { row: 1, reason: 'is not valid JSON', line: 'nope' },
    { row: 3, reason: 'bogus: is not a known field', line: line('b', { bogus: 1 }).trim() },
  ]
    .map((row) => JSON.stringify(row))
    .join('\n')}\n`
  const tried = await importFile('rejecting', file, '?dryRun=true')
  expect(tried.result).toEqual({ ...RESULT, read: 3, loaded: 1, rejected: 2, dryRun: true })
  const strict = await importFile('rejecting', file, '?strict=true')
  expect([strict.state, strict.error, strict.result?.loaded]).toEqual([
    'failed',
    'stopped at rejected rows',
    0,
  ])
  const done = await importFile('rejecting', file)
  expect([done.state, done.result]).toEqual([
    'done',
    { ...RESULT, read: 3, loaded: 1, rejected: 2 },
  ])
  for (const { id } of [tried, strict, done]) {
    const sent = await send('GET', `/v1/projects/rejecting/imports/${id}/rejected`)
    expect([sent.status, sent.headers.get('content-type'), sent.text]).toEqual([
      200,
      'application/x-ndjson; charset=utf-8',
      rejected,
    ])
  }
  const clean = await importFile('rejecting', line('c'))
  const none = await send('GET', `/v1/projects/rejecting/imports/${clean.id}/rejected`)
  expect([none.status, none.text]).toEqual([200, ''])
})

test('imports and deletions of users of a project follow each other', async () => {
  await makeProject('ordered')
  await upload('ordered', line('a', { user_id: 'gone' }))
  service.setNow(new Date(NOW.getTime() + 1_000))
  const deleted = await send('DELETE', '/v1/projects/ordered/users/gone')
  service.setNow(new Date(NOW.getTime() + 2_000))
  await upload('ordered', line('b', { user_id: 'later' }))
  service.setNow(NOW)
  for (let i = 0; i < 3; i++) await service.runOperations()
  const { id } = deleted.body as Operation
  expect((await send('GET', `/v1/operations/${id}`)).body).toMatchObject({
    result: { events: 1, users: 1 },
  })
  const { rows } = await service.store.writer.query<{ user: string }>(
    statement(sql`SELECT user_id AS user FROM users WHERE project_id = 'ordered'`),
  )
  expect(rows).toEqual([{ user: 'later' }])
})

test('an import of a project that is being deleted fails, and its files go with the project', async () => {
  await makeProject('leaving')
  const kept = await importFile('leaving', `nope\n${line('a')}`)
  const begun = await upload('leaving', line('b'))
  await send('DELETE', '/v1/projects/leaving')
  expect(await countPieces('leaving', 'rejected')).toBe(1)
  for (let i = 0; i < 2; i++) await service.runOperations()
  const { id } = begun.body as Operation
  expect((await send('GET', `/v1/operations/${id}`)).body).toMatchObject({ state: 'failed' })
  expect([await countPieces('leaving'), await countPieces('leaving', 'rejected')]).toEqual([0, 0])
  expect((await send('GET', `/v1/operations/${kept.id}`)).status).toBe(200)
  expect(codeOf(await upload('leaving', line('c')))).toEqual([404, 'NOT_FOUND'])
})

test('of two services one runs an import, and both know its state', async () => {
  await makeProject('shared')
  const second = await service.start()
  try {
    const file = line('a') + line('b')
    const begun = await upload('shared', file, '', {}, second.address)
    await Promise.all([service.runOperations(), service.runOperations()])
    const { id } = begun.body as Operation
    const want = { state: 'done', result: { ...RESULT, read: 2, loaded: 2 } }
    expect(await readOperation(id)).toMatchObject(want)
    const there = await send('GET', `/v1/operations/${id}`, {}, second.address)
    expect(there.body).toMatchObject(want)
  } finally {
    await second.stop()
  }
})

/** Longer than any other request may take to arrive. */
const SLOW_MS = 18_000

test('an upload may take its time', async () => {
  await makeProject('slow')
  const { request, answer } = sendSlowly('slow')
  request.write(line('a'))
  await sleep(SLOW_MS)
  request.end(line('b'))
  expect((await answer).status).toBe(202)
})

/** Some chunks of the service. */
const ROWS = 150_000
/** Every so often a row is not valid. */
const REJECTED_EVERY = 10_000

const makeRows = (): Buffer =>
  Buffer.from(
    Array.from({ length: ROWS }, (_, i) =>
      i % REJECTED_EVERY === 0
        ? `row ${i}\n`
        : `${JSON.stringify({
            timestamp: new Date(Date.parse(AT) + i * 1_000).toISOString(),
            user_id: `u${i % 500}`,
            url: `https://shop.example/${i % 100}?${'x'.repeat(200)}`,
          })}\n`,
    ).join(''),
  )

test('an import goes on after kills, and each row counts once', async () => {
  const dataDir = await aDataDir()
  const killed = runService(dataDir)
  const kills = scaled(1)
  try {
    await until(() => killed.address() !== undefined)
    const { stdout } = await runCli(['key', 'issue', '--admin'], createEnv(dataDir, 1))
    const ask = async (
      method: string,
      path: string,
      body?: string | Uint8Array<ArrayBuffer>,
    ): Promise<Response> => {
      const headers = { Authorization: `Bearer ${stdout.trim()}`, ...JSON_TYPE }
      for (;;) {
        const address = killed.address()
        const sent = await fetch(`${address}${path}`, {
          method,
          headers,
          ...(body === undefined ? {} : { body }),
        }).catch(() => undefined)
        if (sent !== undefined && sent.status < 500) return sent
        await until(() => killed.address() !== undefined)
      }
    }
    const project = { name: 'Shop', domain: 'shop.example' }
    await ask('PUT', '/v1/projects/shop', JSON.stringify(project))
    const begun = await ask('POST', '/v1/projects/shop/imports', new Uint8Array(makeRows()))
    const { id } = (await begun.json()) as Operation
    const read = async (): Promise<Operation> =>
      (await (await ask('GET', `/v1/operations/${id}`)).json()) as Operation
    let seen = 0
    for (let kill = 0; kill < kills; kill++) {
      await until(async () => {
        const { progress, state } = await read()
        expect(state).not.toBe('done')
        return (progress?.rows ?? 0) > seen
      })
      seen = (await read()).progress?.rows ?? 0
      killed.killService()
      await until(() => killed.address() !== undefined)
    }
    await until(async () => ['done', 'failed'].includes((await read()).state))
    const rejected = ROWS / REJECTED_EVERY
    const { state, error, result } = await read()
    expect([state, error, result]).toMatchObject([
      'done',
      null,
      { read: ROWS, loaded: ROWS - rejected, duplicates: 0, rejected, users: 500 },
    ])
    const rows = await (await ask('GET', `/v1/projects/shop/imports/${id}/rejected`)).text()
    expect(
      rows
        .trim()
        .split('\n')
        .map((one) => (JSON.parse(one) as { line: string }).line),
    ).toEqual(Array.from({ length: rejected }, (_, i) => `row ${i * REJECTED_EVERY}`))
    const usage = await ask('GET', '/v1/usage?project=shop')
    const [row] = ((await usage.json()) as { usage: { counted: number; repeated: number }[] }).usage
    expect([row?.counted, row?.repeated]).toEqual([ROWS - rejected, 0])
  } finally {
    expect(await killed.stop()).toBe(0)
  }
  expect(killed.unexpectedExits).toEqual([])
})

const JSON_TYPE = { 'Content-Type': 'application/json' }
