/** Imports over HTTP, with a real store: which are refused, which repeat another, and what an upload leaves behind. */
import { expect, test } from '@jest/globals'
import { gzipSync } from 'node:zlib'
import { MAX_UPLOAD_BYTES } from '../../../src/http/management/receive-upload.js'
import type { Operation } from '../../../src/contract/management-api.js'
import { until } from '../../support/until.js'
import { codeOf, importing, line, RESULT } from './importing.js'
import { withManagement } from './management.js'

const service = withManagement()
const { send } = service
const { upload, sendSlowly, makeProject, importFile, countPieces } = importing(service)

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
