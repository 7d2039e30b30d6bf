/** `tallyhouse import` as a process: what it loads, what it prints, and its exit codes. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { sql, string } from '../../../src/clickhouse/sql.js'
import { packagePath } from '../../../src/lib/package-path.js'
import type { CliResult } from '../../support/cli/cli.js'
import { formatServerUrl } from '../../support/cli/commands.js'
import { sample, thoroughTest } from '../../support/effort.js'
import { writeFile as writeColumnar } from '../../support/sources/columnar.js'
import { withDatabase } from '../../support/store/database.js'
import { select } from '../../support/store/facts.js'
import { newProject } from '../../support/world/world.js'

const database = withDatabase()
/** The project of the test. */
let project: string
let folder: string

/** Runs the command in the folder, with `input` on standard input. */
async function run(args: readonly string[], input: string | Buffer = ''): Promise<CliResult> {
  const child = spawn(process.execPath, [packagePath('dist/cli.js'), ...args], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      DATA_DIR: 'data',
      CLICKHOUSE_URL: formatServerUrl(database.endpoint),
    },
  })
  child.stdin.on('error', () => undefined).end(input)
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number]>,
  ])
  return { code, stdout, stderr }
}

const importing = (...args: readonly string[]): Promise<CliResult> =>
  run(['import', '--project', project, ...args])
const file = (name: string, content: string | Buffer): Promise<void> =>
  writeFile(path.join(folder, name), content)
const read = (name: string): Promise<string> => readFile(path.join(folder, name), 'utf8')

const AT = '2026-01-31T10:00:00.000Z'
const line = (id: string, more: object = {}): string =>
  `${JSON.stringify({ timestamp: AT, event_id: id, user_id: 'u', ...more })}\n`
const GOOD = line('a') + line('b')
const BAD = `nope\n${line('c')}${line('d', { bogus: 1 })}`
const SUMMARY = {
  read: 0,
  loaded: 0,
  duplicates: 0,
  bots: 0,
  excluded: 0,
  rejected: 0,
  skipped: 0,
  users: 0,
  sessions: 0,
  first: null,
  last: null,
  dryRun: false,
  seconds: expect.any(Number),
  rowsPerSecond: expect.any(Number),
  rejectedFiles: [],
}
const ONE_SESSION = { users: 1, sessions: 1, first: AT, last: AT }

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-import-'))
  project = (await newProject(database.store)).id
})
afterEach(() => rm(folder, { recursive: true, force: true }))

test('files are loaded in order, plain or gzipped, without duplicates', async () => {
  await file('plain.ndjson', GOOD)
  await file('packed.ndjson.gz', gzipSync(line('b') + line('c')))
  const { code, stdout, stderr } = await importing('--json', 'plain.ndjson', 'packed.ndjson.gz')
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toEqual({
    ...SUMMARY,
    // The two files share their user.
    ...ONE_SESSION,
    read: 4,
    loaded: 3,
    duplicates: 1,
  })
  expect(stderr).toMatch(
    /^plain\.ndjson: 2 rows, [\d,]+ rows\/s\npacked\.ndjson\.gz: 2 rows, [\d,]+ rows\/s\n$/,
  )
  expect((await readdir(folder)).sort()).toEqual(['packed.ndjson.gz', 'plain.ndjson'])
  expect(await importing('plain.ndjson')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /^read +2\nloaded +0\nduplicates +2\nbots +0\nexcluded +0\nrejected +0\nskipped +0\nusers +1\nsessions +1\nfirst +2026-01-31 10:00:00 UTC\nlast +2026-01-31 10:00:00 UTC\nseconds +[\d.]+\nrows per second +[\d,]+\n$/,
    ),
  })
})

describe('every format is detected by its content', () => {
  const EVENT = { timestamp: AT, user_id: 'u', url: 'https://shop.example/a', name: 'pageview' }
  const select = `SELECT ${Object.entries(EVENT)
    .map(([name, value]) => `'${value}' AS ${name}`)
    .join(', ')}`
  const csv = `${Object.keys(EVENT).join(',')}\n${Object.values(EVENT).join(',')}\n`
  const log = `192.0.2.7 - - [31/Jan/2026:11:00:00 +0100] "GET /a HTTP/1.1" 200 12 "-" "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"\n`

  const formats: readonly (readonly [string, () => Promise<Buffer>, readonly string[], number])[] =
    [
      ['ndjson', () => Promise.resolve(Buffer.from(JSON.stringify(EVENT))), [], 0],
      ['csv', () => Promise.resolve(Buffer.from(csv)), [], 0],
      ['parquet', () => writeColumnar('Parquet', select), [], 0],
      ['arrow', () => writeColumnar('Arrow', select), [], 0],
      ['arrow', () => writeColumnar('ArrowStream', select), [], 0],
      [
        'log',
        () => Promise.resolve(Buffer.from(log + log.replace('/a', '/a.css'))),
        ['--origin', 'https://shop.example'],
        1,
      ],
    ]

  test.each(sample(formats, 4))('%s', async (format, write, options, skipped) => {
    const bytes = await write()
    await file('plain', bytes)
    await file('packed', gzipSync(bytes))
    const want = { ...SUMMARY, ...ONE_SESSION, read: 1 + skipped, skipped }
    const first = await importing('--json', ...options, 'plain')
    expect([first.code, JSON.parse(first.stdout)]).toEqual([0, { ...want, loaded: 1 }])
    // A second import finds duplicates, gzipped or on standard input.
    const packed = await importing('--json', ...options, '--format', format, 'packed')
    expect(JSON.parse(packed.stdout)).toEqual({ ...want, duplicates: 1 })
    const stdin = await run(['import', '--project', project, '--json', ...options, '-'], bytes)
    expect(JSON.parse(stdin.stdout)).toEqual({ ...want, duplicates: 1 })
  })
})

thoroughTest(
  'patterns: files in the order of their names, each once, without files of rejected rows',
  async () => {
    await mkdir(path.join(folder, 'logs'))
    await file('logs/b.ndjson', line('b'))
    await file('logs/a.ndjson', line('a'))
    await file('logs/a.ndjson.rejected.ndjson', 'of an earlier run\n')
    await file('logs/[x].ndjson', line('x'))
    const { code, stderr } = await importing('logs/[x].ndjson', 'logs/b*', 'logs/**/*.ndjson')
    expect(code).toBe(0)
    expect(stderr.match(/^[^:]+/gm)).toEqual(['logs/[x].ndjson', 'logs/b.ndjson', 'logs/a.ndjson'])
  },
)

thoroughTest('columns of other names are mapped, and Unix times are read', async () => {
  await file('foreign.csv', 'uuid,when,tier,noise\nu,1769853600,pro,x\n')
  const { code, stdout } = await importing(
    ...[
      '--json',
      '--map',
      'user_id=uuid',
      '--map',
      'timestamp=when',
      '--map',
      'properties.tier=tier',
    ],
    'foreign.csv',
  )
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toEqual({ ...SUMMARY, ...ONE_SESSION, read: 1, loaded: 1 })
})

test('rejected rows are written to a file with their reasons, and the rest is loaded', async () => {
  await file('bad.ndjson', BAD)
  await file('bad.ndjson.rejected.ndjson', 'of an earlier run\n')
  const rejected = [
    { row: 1, reason: expect.stringContaining('is not valid JSON'), line: 'nope' },
    { row: 3, reason: 'bogus: is not a known field', line: line('d', { bogus: 1 }).trim() },
  ]
  const rejectedFiles = ['bad.ndjson.rejected.ndjson']
  const want = { ...SUMMARY, ...ONE_SESSION, read: 3, rejected: 2, rejectedFiles }
  for (const counts of [{ loaded: 1 }, { duplicates: 1 }]) {
    const { code, stdout, stderr } = await importing('--json', 'bad.ndjson')
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toEqual({ ...want, ...counts })
    expect(stderr).toContain('bad.ndjson: row 3 rejected: bogus: is not a known field\n')
    const rows = (await read('bad.ndjson.rejected.ndjson')).trim().split('\n')
    expect(rows.map((row) => JSON.parse(row) as unknown)).toEqual(rejected)
  }
})

test('files of which no row can be read end the command with 1, after all others', async () => {
  await file('bad.csv', 'timestamp\nyesterday\n')
  await file('none.csv', 'timestamp\n')
  await file('good.ndjson', GOOD)
  const names = ['bad.csv', 'none.csv', 'good.ndjson']
  const { code, stdout, stderr } = await importing('--json', ...names)
  expect([code, JSON.parse(stdout)]).toEqual([
    1,
    {
      ...SUMMARY,
      ...ONE_SESSION,
      read: 3,
      loaded: 2,
      rejected: 1,
      rejectedFiles: ['bad.csv.rejected.ndjson'],
    },
  ])
  expect(stderr.trim().split('\n').at(-1)).toBe(
    'tallyhouse: bad.csv: its only row could not be read, see bad.csv.rejected.ndjson; none.csv: has no rows',
  )
  const dry = await importing('--dry-run', 'bad.csv')
  expect([dry.code, dry.stderr.trim().split('\n').at(-1)]).toEqual([
    1,
    'tallyhouse: bad.csv: its only row could not be read',
  ])
})

test('files that can be read and give no event end the command with 1, and say why', async () => {
  const log = '192.0.2.7 - - [31/Jan/2026:11:00:00 +0100] "GET /a.css HTTP/1.1" 200 12 "-" "x"\n'
  await file('assets.log', log)
  await file('bots.ndjson', line('a', { user_agent: 'curl/8.5.0' }) + line('b', { ip: 'x' }))
  const found = { ...SUMMARY, read: 3, bots: 1, rejected: 1, skipped: 1 }
  const why = 'tallyhouse: nothing was loaded: 1 skipped, 1 bots, 1 rejected\n'
  const { code, stdout, stderr } = await importing('--json', 'assets.log', 'bots.ndjson')
  expect([code, JSON.parse(stdout)]).toEqual([
    1,
    { ...found, rejectedFiles: ['bots.ndjson.rejected.ndjson'] },
  ])
  expect(stderr.endsWith(why)).toBe(true)
  // Beside events, such files are no failure.
  await file('good.ndjson', GOOD)
  expect((await importing('assets.log', 'bots.ndjson', 'good.ndjson')).code).toBe(0)
})

thoroughTest(
  'Unix times are read in any file: seconds, milliseconds and microseconds',
  async () => {
    await file('times.csv', 'timestamp,user_id\n1769853600,u\n1769853600000,u\n')
    await file('times.ndjson', '{"timestamp":1769853600000000,"user_id":"u"}\n')
    const { code, stdout } = await importing('--json', 'times.csv', 'times.ndjson')
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      { ...SUMMARY, ...ONE_SESSION, read: 3, loaded: 3 },
    ])
  },
)

thoroughTest(
  'exports of other tools: columns that events have no field for are named',
  async () => {
    const header = 'created_at,session_id,visit_id,event_type,event_name,url_path,screen,page_title'
    await file('umami.csv', `${header}\n2026-01-31 10:00:00,s,v,1,,/,1x1,Home\n`)
    const { code, stdout, stderr } = await importing('--json', '--from', 'umami', 'umami.csv')
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      { ...SUMMARY, ...ONE_SESSION, read: 1, loaded: 1 },
    ])
    expect(stderr).toContain(
      'umami.csv: left out, because events have no such field: screen, page_title\n',
    )
    const refused = await importing('--from', 'plausible', 'umami.csv')
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/^tallyhouse: umami\.csv: has totals per day and not events\. .*\n$/),
    ])
    const mapped = await importing('--from', 'umami', '--map', 'user_id=x', 'umami.csv')
    expect([mapped.code, mapped.stderr]).toEqual([2, expect.stringContaining('--map')])
  },
)

test('times without a zone are read in UTC, and the command says so, or in --zone', async () => {
  await file('local.csv', 'timestamp,event_id\n2026-01-31 11:00:00,a\n2026-01-31 11:00:00,b\n')
  const note = 'local.csv: timestamps without a zone are read in UTC; --zone names another\n'
  const dry = await importing('--dry-run', '--json', 'local.csv')
  expect(JSON.parse(dry.stdout)).toMatchObject({ loaded: 2, first: '2026-01-31T11:00:00.000Z' })
  expect(dry.stderr.split(note)).toHaveLength(2)
  const { code, stdout, stderr } = await importing('--json', '--zone', 'Europe/Berlin', 'local.csv')
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { loaded: 2, first: AT }])
  expect(stderr).not.toContain('zone')
})

thoroughTest('a dry run gives the same report, and writes nothing', async () => {
  await file('bad.ndjson', BAD + line('c'))
  const dry = await importing('--dry-run', '--json', 'bad.ndjson')
  expect(dry.code).toBe(0)
  const want = { ...SUMMARY, ...ONE_SESSION, read: 4, loaded: 1, duplicates: 1, rejected: 2 }
  expect(JSON.parse(dry.stdout)).toEqual({ ...want, dryRun: true })
  expect(dry.stderr).toContain('bad.ndjson: row 3 rejected: bogus: is not a known field\n')
  expect(await readdir(folder)).toEqual(['bad.ndjson'])
  expect((await importing('--dry-run', 'bad.ndjson')).stdout).toMatch(
    /\ndry run +nothing was imported\n$/,
  )
  const { stdout } = await importing('--json', 'bad.ndjson')
  const rejectedFiles = ['bad.ndjson.rejected.ndjson']
  expect(JSON.parse(stdout)).toEqual({ ...want, rejectedFiles })
})

thoroughTest('--strict stops at rejected rows, and loads nothing of their chunk', async () => {
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

thoroughTest('rows from standard input may name their project', async () => {
  const input = line('a', { project }) + line('b', { project: 'other' }) + line('c')
  const { code, stdout } = await run(['import', '--json', '-'], input)
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ read: 3, loaded: 1, rejected: 2 })
  expect((await read('stdin.rejected.ndjson')).match(/"reason":"[^"]*"/g)).toEqual([
    '"reason":"project: there is no project other"',
    '"reason":"project: is required where no project is named for all rows"',
  ])
})

/** Counts what an import leaves in the store: if nothing is added, the same rows are still new. */
const countTraces = (): Promise<readonly object[]> =>
  select(
    database.store,
    sql`
SELECT
  (SELECT count() FROM events WHERE project_id = ${string(project)}) AS events,
  (SELECT count() FROM event_ids WHERE project_id = ${string(project)}) AS ids,
  (SELECT count() FROM inbox) AS waiting,
  (SELECT count() FROM loads FINAL) AS loads,
  (SELECT count() FROM rejections) AS rejections`,
  )

describe('the error for a source that cannot be imported is one line', () => {
  const packed = gzipSync(Array.from({ length: 2_000 }, (_, i) => line(`e${i}`)).join(''))
  const nothing = '; nothing was imported'

  const sources: readonly (readonly [message: string, args: readonly string[]])[] = [
    ['there is no project other', ['--project', 'other', 'good.ndjson']],
    ['missing.ndjson: no such file', ['good.ndjson', 'missing.ndjson']],
    ['missing*.ndjson: no file matches', ['good.ndjson', 'missing*.ndjson']],
    ['.: is a folder', ['good.ndjson', '.']],
    ['empty.csv: is empty', ['good.ndjson', 'empty.csv']],
    [`empty.gz: is empty${nothing}`, ['empty.gz']],
    ['standard input (-) can only be read once', ['-', 'good.ndjson', '-']],
    [`cut.gz: the gzip file is damaged (unexpected end of file)${nothing}`, ['cut.gz']],
    [`broken.gz: the gzip file is damaged (incorrect data check)${nothing}`, ['broken.gz']],
    [
      'words.txt: is not recognised as ndjson, csv, parquet, arrow, log; name its format with ' +
        `--format, or map its columns with --map <field>=<column>${nothing}`,
      ['words.txt'],
    ],
    [
      'foreign.csv: has columns that are not fields of an event: uuid; map them with ' +
        `--map <field>=<column>, which leaves out all others${nothing}`,
      ['foreign.csv'],
    ],
    [
      `foreign.csv: has no column id, which --map names; it has timestamp, uuid${nothing}`,
      ['--map', 'user_id=id', 'foreign.csv'],
    ],
    [`cut.parquet: is not Parquet, or is cut short${nothing}`, ['cut.parquet']],
    [
      `good.ndjson: is ndjson; --origin is for access logs${nothing}`,
      ['--origin', 'https://a.example', 'good.ndjson'],
    ],
  ]

  test.each(sample(sources, 12))('%s', async (message, args) => {
    await file('good.ndjson', GOOD)
    await file('empty.csv', '')
    await file('empty.gz', gzipSync(''))
    await file('cut.gz', packed.subarray(0, packed.length / 2))
    await file('broken.gz', Buffer.concat([packed.subarray(0, -8), Buffer.alloc(8, 1)]))
    await file('words.txt', 'Lorem ipsum\n')
    await file('foreign.csv', `timestamp,uuid\n${AT},u\n`)
    await file('cut.parquet', 'PAR1\x15\x04\x15\x10\x15\x14\x15\x10')
    const before = await countTraces()
    expect(await importing(...args)).toEqual({
      code: 1,
      stdout: '',
      stderr: `tallyhouse: ${message}\n`,
    })
    expect(await countTraces()).toEqual(before)
  })

  const usages: readonly (readonly [message: string, args: readonly string[]])[] = [
    ['An event has no field uid;', ['--map', 'uid=x']],
    ['Expected <field>=<column>, such as user_id=uuid.', ['--map', 'user_id']],
    ['Expected <field>=<column>, such as user_id=uuid.', ['--map', 'user_id=']],
    ['The field user_id is mapped twice.', ['--map', 'user_id=a', '--map', 'user_id=b']],
    ['Allowed choices are ndjson, csv, parquet, arrow, log.', ['--format', 'xml']],
    ['Expected a scheme and a host, such as https://example.com.', ['--origin', 'example.com']],
    [
      'Expected a scheme and a host, such as https://example.com.',
      ['--origin', 'https://a.example/b'],
    ],
  ]

  test.each(sample(usages, 12))('usage: %s', async (message, args) => {
    await file('good.ndjson', GOOD)
    const { code, stdout, stderr } = await importing(...args, 'good.ndjson')
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(message)
  })
})
