/** Imports over HTTP, with a real store: formats, settings, rejected rows, refusals, and what is left of an upload. */
import { expect, test } from '@jest/globals'
import { once } from 'node:events'
import { request as openRequest, type IncomingMessage } from 'node:http'
import { gzipSync } from 'node:zlib'
import { sql, statement, string } from '../../../src/clickhouse/sql.js'
import { MAX_UPLOAD_BYTES } from '../../../src/http/management/receive-upload.js'
import { writeFile as writeColumnar } from '../../support/sources/columnar.js'
import { until } from '../../support/until.js'
import { NOW, withManagement, type Sent } from './management.js'

const service = withManagement()
const { send } = service

const AT = '2026-03-09T10:00:00.000Z'
const line = (id: string, more: object = {}): string =>
  `${JSON.stringify({ timestamp: AT, event_id: id, user_id: 'u', ...more })}\n`

interface Operation {
  readonly id: string
  readonly state: string
  readonly error: string | null
  readonly result: Readonly<Record<string, unknown>> | null
}

const makeProject = (id: string, org?: string): Promise<Sent> =>
  send('PUT', `/v1/projects/${id}`, {
    body: { name: 'Shop', domain: 'shop.example', ...(org === undefined ? {} : { org }) },
  })

/** Sends a file. */
const upload = (
  project: string,
  file: string | Buffer,
  query = '',
  options: { readonly key?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<Sent> =>
  send('POST', `/v1/projects/${project}/imports${query}`, { ...options, file: Buffer.from(file) })

/** Imports a file, and returns the operation at its end. */
async function importFile(project: string, file: string | Buffer, query = ''): Promise<Operation> {
  const begun = await upload(project, file, query)
  expect([begun.status, begun.body]).toMatchObject([202, { state: 'waiting', kind: 'import' }])
  const { id } = begun.body as Operation
  expect(begun.headers.get('location')).toBe(`/v1/operations/${id}`)
  await service.runOperations()
  return (await send('GET', `/v1/operations/${id}`)).body as Operation
}

const codeOf = ({ status, body }: Sent): readonly unknown[] => {
  const { error } = body as { error: { code: string; details?: { field: string }[] } }
  return [status, error.code, ...(error.details ?? []).map(({ field }) => field)]
}

/** Counts the pieces of files of a project. */
async function countPieces(project: string, kind = 'upload'): Promise<number> {
  const { rows } = await service.store.writer.query<{ pieces: number }>(
    statement(
      sql`SELECT count() AS pieces FROM uploads WHERE project_id = ${string(project)} AND kind = ${string(kind)}`,
    ),
  )
  return rows[0]?.pieces ?? 0
}

const RESULT = {
  ...{ read: 0, loaded: 0, duplicates: 0, bots: 0, excluded: 0, rejected: 0, skipped: 0 },
  ...{ users: 1, sessions: 1, first: AT, last: AT, dryRun: false, notes: [] },
}

test('a file is imported once, however often it is sent', async () => {
  await makeProject('files')
  const first = await importFile('files', line('a') + line('b'))
  expect(first).toMatchObject({
    ...{ state: 'done', error: null, progress: { rows: 2, share: 1 } },
    result: { ...RESULT, read: 2, loaded: 2 },
  })
  const second = await importFile('files', gzipSync(line('a') + line('b')))
  expect(second.result).toEqual({ ...RESULT, read: 2, duplicates: 2 })
  expect(await countPieces('files')).toBe(0)
  const { body } = await send('GET', '/v1/projects/files/imports?limit=1')
  const page = body as { imports: Operation[]; nextCursor: string }
  const rest = await send('GET', `/v1/projects/files/imports?cursor=${page.nextCursor}`)
  const { imports } = rest.body as { imports: Operation[] }
  expect([...page.imports, ...imports].map(({ id }) => id).sort()).toEqual(
    [first.id, second.id].sort(),
  )
  const { body: log } = await send('GET', '/v1/audit-log?project=files&limit=1')
  expect(log).toMatchObject({
    changes: [{ action: 'import.start', target: second.id, after: { strict: false } }],
  })
  const usage = await send('GET', '/v1/usage?project=files&from=2026-03-01&to=2026-03-31')
  expect(usage.body).toMatchObject({ usage: [{ accepted: 2, counted: 2 }] })
})

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
    results.push([name, result?.['loaded'], result?.['first']])
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
  expect([strict.state, strict.error, strict.result?.['loaded']]).toEqual([
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

const DAMAGED = gzipSync(line('a').repeat(20_000)).subarray(0, -20)

const UNREADABLE: readonly (readonly [string, string | Buffer, string, RegExp])[] = [
  ['no Parquet', 'nope\n', '?format=parquet', /^upload: is not Parquet, or is cut short; nothing/],
  [
    'no format',
    'a,b\n1,2\n',
    '',
    /^upload: is not recognised as ndjson, csv, parquet, arrow, log; /,
  ],
  ['an unknown column', 'timestamp,x\n1,2\n', '', /^upload: has columns that are not fields of an/],
  ['no JSON', 'x\n', '?format=ndjson', /^upload: its only row could not be read$/],
  ['no rows', ' \n', '?format=ndjson', /^upload: has no rows$/],
  ['damaged gzip', DAMAGED, '', /^upload: the gzip file is damaged \(unexpected end of file\)/],
]

test.each(UNREADABLE)('a file with %s fails', async (_name, file, query, message) => {
  await makeProject('failing')
  const { state, error } = await importFile('failing', file, query)
  expect([state, error]).toEqual(['failed', expect.stringMatching(message)])
})

test.each([
  ['?format=xml', [400, 'VALIDATION_ERROR', 'format']],
  ['?map=user_id', [400, 'VALIDATION_ERROR', 'map']],
  ['?map=user_id=a&map=user_id=b', [400, 'VALIDATION_ERROR', 'map']],
  ['?map=nope=a', [400, 'VALIDATION_ERROR', 'map']],
  ['?zone=Mars', [400, 'VALIDATION_ERROR', 'zone']],
  ['?origin=shop', [400, 'VALIDATION_ERROR', 'origin']],
  ['?from=umami&zone=UTC', [400, 'VALIDATION_ERROR', 'zone']],
  ['?strict=maybe', [400, 'VALIDATION_ERROR', 'strict']],
  ['?file=http://x', [400, 'VALIDATION_ERROR', 'file']],
])('%s is refused', async (query, want) => {
  await makeProject('refusing')
  expect(codeOf(await upload('refusing', line('a'), query))).toEqual(want)
  expect(await countPieces('refusing')).toBe(0)
})

test('an empty file, a compressed one of another kind, and one that is too large are refused', async () => {
  await makeProject('bodies')
  expect(codeOf(await upload('bodies', ''))).toEqual([400, 'VALIDATION_ERROR', 'body'])
  const headers = { 'Content-Encoding': 'br' }
  expect(codeOf(await upload('bodies', 'x', '', { headers }))).toEqual([
    415,
    'UNSUPPORTED_MEDIA_TYPE',
  ])
  const { status, text } = await sendSlowly('bodies', {
    'Content-Length': String(MAX_UPLOAD_BYTES + 1),
  }).answer
  expect([status, text]).toEqual([413, expect.stringContaining('larger than 1024 MB')])
  expect(await countPieces('bodies')).toBe(0)
})

/** Sends the head of a request, and what is written later. */
function sendSlowly(project: string, headers: Readonly<Record<string, string>> = {}) {
  const address = service.service.managementAddress ?? service.service.address
  const request = openRequest(`${address}/v1/projects/${project}/imports`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${service.root}`, ...headers },
  }).on('error', () => undefined)
  request.flushHeaders()
  const answer = (async () => {
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    let text = ''
    for await (const chunk of response) text += String(chunk)
    request.destroy()
    return { status: response.statusCode, text }
  })()
  answer.catch(() => undefined)
  return { request, answer }
}

test('an upload that is aborted leaves nothing, and a service takes two at a time', async () => {
  await makeProject('aborting')
  const two = [sendSlowly('aborting'), sendSlowly('aborting')]
  for (const { request } of two) request.write(line('a').repeat(30_000))
  await until(async () => (await countPieces('aborting')) >= 2)
  const third = await upload('aborting', line('a'))
  expect([...codeOf(third), third.headers.get('retry-after')]).toEqual([
    503,
    'SERVICE_UNAVAILABLE',
    '10',
  ])
  two[0]!.request.destroy()
  await until(async () => (await upload('aborting', line('a'))).status === 202)
  two[1]!.request.end()
  expect((await two[1]!.answer).status).toBe(202)
  const { body } = await send('GET', '/v1/projects/aborting/imports')
  const { imports } = body as { imports: Operation[] }
  expect(imports.map(({ state }) => state)).toEqual(['waiting', 'waiting'])
  await service.runOperations()
  expect(await countPieces('aborting')).toBe(0)
})

test('an Idempotency-Key belongs to the settings and the content of a file', async () => {
  await makeProject('repeating')
  const headers = { 'Idempotency-Key': 'file-1' }
  const first = await upload('repeating', line('a'), '', { headers })
  const second = await upload('repeating', line('a'), '', { headers })
  expect([second.status, second.body]).toEqual([202, first.body])
  expect(codeOf(await upload('repeating', line('b'), '', { headers }))).toEqual([409, 'CONFLICT'])
  expect(codeOf(await upload('repeating', line('a'), '?strict=true', { headers }))).toEqual([
    409,
    'CONFLICT',
  ])
  expect(await countPieces('repeating')).toBe(1)
  const { body } = await send('GET', '/v1/projects/repeating/imports')
  expect((body as { imports: object[] }).imports).toEqual([first.body])
})

test('a key of another organization sees no import, and starts none', async () => {
  await makeProject('secret', 'theirs')
  const done = await importFile('secret', `nope\n${line('a')}`)
  const key = await service.issue('mine')
  await makeProject('mine', 'mine')
  const targets = [
    `/v1/operations/${done.id}`,
    '/v1/projects/secret/imports',
    `/v1/projects/secret/imports/${done.id}/rejected`,
    `/v1/projects/mine/imports/${done.id}/rejected`,
  ]
  for (const target of targets) {
    expect(codeOf(await send('GET', target, { key }))).toEqual([404, 'NOT_FOUND'])
  }
  expect(codeOf(await upload('secret', line('b'), '', { key }))).toEqual([404, 'NOT_FOUND'])
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
