/** `tallyhouse import` as a process: what it loads, what it says, and how it ends. */
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { packagePath } from '../../../src/paths.js'
import { buildFolder } from '../../support/build-launcher.js'
import type { Outcome } from '../../support/cli.js'
import { newDatabase } from '../../support/database.js'

let folder: string
let url: string

/** Runs the command in the folder, with an input. */
async function run(args: readonly string[], input = ''): Promise<Outcome> {
  const child = spawn(process.execPath, [packagePath('dist/cli.js'), ...args], {
    cwd: folder,
    env: { PATH: process.env['PATH'], DATA_DIR: 'data', CLICKHOUSE_URL: url },
  })
  child.stdin.on('error', () => undefined).end(input)
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number]>,
  ])
  return { code, stdout, stderr }
}

const importing = (...args: readonly string[]): Promise<Outcome> =>
  run(['import', '--project', 'shop', ...args])
const file = (name: string, content: string | Buffer): Promise<void> =>
  writeFile(path.join(folder, name), content)
const read = (name: string): Promise<string> => readFile(path.join(folder, name), 'utf8')

const line = (id: string, more: object = {}): string =>
  `${JSON.stringify({ timestamp: '2026-01-31T10:00:00Z', event_id: id, user_id: 'u', ...more })}\n`
const GOOD = line('a') + line('b')
const BAD = `nope\n${line('c')}${line('d', { bogus: 1 })}`
const SUMMARY = {
  read: 0,
  loaded: 0,
  duplicates: 0,
  excluded: 0,
  rejected: 0,
  seconds: expect.any(Number),
  rowsPerSecond: expect.any(Number),
  rejectedFiles: [],
}

beforeAll(() => buildFolder(''))
beforeEach(async () => {
  const { database, ...server } = newDatabase()
  const { username, password } = server.accounts.admin
  url = Object.assign(new URL(database, server.url), { username, password }).href
  folder = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-import-'))
  await run(['project', 'create', '--name', 'Shop', '--domain', 'shop.example', '--id', 'shop'])
})
afterEach(() => rm(folder, { recursive: true, force: true }))

test('files are loaded in order, plain or gzip, and what came before is known', async () => {
  await file('plain.ndjson', GOOD)
  await file('packed.ndjson.gz', gzipSync(line('b') + line('c')))
  const { code, stdout, stderr } = await importing('--json', 'plain.ndjson', 'packed.ndjson.gz')
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toEqual({ ...SUMMARY, read: 4, loaded: 3, duplicates: 1 })
  expect(stderr).toMatch(
    /^plain\.ndjson: 2 rows, [\d,]+ rows\/s\npacked\.ndjson\.gz: 2 rows, [\d,]+ rows\/s\n$/,
  )
  expect((await readdir(folder)).sort()).toEqual(['packed.ndjson.gz', 'plain.ndjson'])
  expect(await importing('plain.ndjson')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /^read +2\nloaded +0\nduplicates +2\nexcluded +0\nrejected +0\nseconds +[\d.]+\nrows\/s +[\d,]+\n$/,
    ),
  })
})

test('rejected rows are kept with their reasons, and the rest is loaded', async () => {
  await file('bad.ndjson', BAD)
  await file('bad.ndjson.rejected.ndjson', 'of an earlier run\n')
  const { code, stdout, stderr } = await importing('--json', 'bad.ndjson')
  expect(code).toBe(0)
  const rejectedFiles = ['bad.ndjson.rejected.ndjson']
  expect(JSON.parse(stdout)).toEqual({ ...SUMMARY, read: 3, loaded: 1, rejected: 2, rejectedFiles })
  expect(stderr).toContain('bad.ndjson: row 3 is rejected: bogus: is not a known field\n')
  const rows = (await read('bad.ndjson.rejected.ndjson')).trim().split('\n')
  expect(rows.map((row) => JSON.parse(row) as unknown)).toEqual([
    { row: 1, reason: expect.stringContaining('is not valid JSON'), line: 'nope' },
    { row: 3, reason: 'bogus: is not a known field', line: line('d', { bogus: 1 }).trim() },
  ])
})

test('strictly, rejected rows are the end, and nothing beside them is loaded', async () => {
  await file('bad.ndjson', BAD)
  await file('good.ndjson', GOOD)
  const { code, stdout, stderr } = await importing(
    '--strict',
    '--json',
    'bad.ndjson',
    'good.ndjson',
  )
  expect(code).toBe(1)
  expect(JSON.parse(stdout)).toMatchObject({ read: 3, loaded: 0, rejected: 2 })
  expect(stderr).toMatch(
    /^tallyhouse: stopped at rejected rows, see bad\.ndjson\.rejected\.ndjson\n$/m,
  )
})

test('standard input, whose rows name their project', async () => {
  const input = line('a', { project: 'shop' }) + line('b', { project: 'other' }) + line('c')
  const { code, stdout } = await run(['import', '--json', '-'], input)
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ read: 3, loaded: 1, rejected: 2 })
  expect((await read('stdin.rejected.ndjson')).match(/"reason":"[^"]*"/g)).toEqual([
    '"reason":"project: there is no project other"',
    '"reason":"project: is required where no project is named for all rows"',
  ])
})

describe('what cannot be imported is told in one line', () => {
  const packed = gzipSync(Array.from({ length: 2_000 }, (_, i) => line(`e${i}`)).join(''))

  test.each<[string, readonly string[]]>([
    ['there is no project other', ['--project', 'other', 'good.ndjson']],
    ['missing.ndjson: there is no such file', ['good.ndjson', 'missing.ndjson']],
    ['.: is a folder', ['good.ndjson', '.']],
    ['standard input (-) can be read once', ['-', 'good.ndjson', '-']],
    [
      'cut.gz: the gzip file is damaged (unexpected end of file); nothing of it was imported',
      ['cut.gz'],
    ],
    [
      'broken.gz: the gzip file is damaged (incorrect data check); nothing of it was imported',
      ['broken.gz'],
    ],
  ])('%s', async (message, args) => {
    await file('good.ndjson', GOOD)
    await file('cut.gz', packed.subarray(0, packed.length / 2))
    await file('broken.gz', Buffer.concat([packed.subarray(0, -8), Buffer.alloc(8, 1)]))
    expect(await importing(...args)).toEqual({
      code: 1,
      stdout: '',
      stderr: `tallyhouse: ${message}\n`,
    })
    // Nothing was loaded: the rows are new.
    const { stdout } = await importing('--json', 'good.ndjson')
    expect(JSON.parse(stdout)).toMatchObject({ loaded: 2 })
  })
})
