/** Files that cannot be imported: each ends in an error that names the problem, loads nothing and needs little memory. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'

import { mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { deflateRawSync, gzipSync } from 'node:zlib'
import { sql, string } from '../../../src/clickhouse/sql.js'
import { addImport } from '../../../src/commands/import/import.js'
import { runCommand } from '../../support/cli/commands.js'
import { writeFile as writeColumnar } from '../../support/sources/columnar.js'
import { openDuckDatabase } from '../../support/duckdb/database.js'
import { raw } from '../../support/duckdb/sql.js'
import { createDatabase, type TestDatabase } from '../../support/store/database.js'
import { select } from '../../support/store/facts.js'
import { ARRIVAL, newProject } from '../../support/world/world.js'
import { sample } from '../../support/effort.js'

let database: TestDatabase
let project: string
let folder: string
beforeAll(async () => {
  database = await createDatabase()
  project = (await newProject(database.store)).id
  folder = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-unreadable-'))
})
afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
  await database.drop()
})

const AT = '2026-01-31T10:00:00Z'
const EVENT = `{"timestamp":"${AT}"}\n`
const GIGABYTE = 2 ** 30
const NOTHING = '; nothing was imported'
const UNRECOGNISED =
  'is not recognised as ndjson, csv, parquet, arrow, log; name its format with --format, ' +
  `or map its columns with --map <field>=<column>${NOTHING}`

type Make = (file: string) => unknown
interface Case {
  readonly make: Make
  readonly args?: readonly string[]
  /** The message after the name of the file. */
  readonly error: string | RegExp
  /** Notes of rejected rows, without the name of the file. */
  readonly notes?: readonly string[]
}

const holding =
  (content: string | Buffer): Make =>
  (file) =>
    writeFile(file, content)
const columnar =
  (format: 'Parquet' | 'Arrow' | 'ArrowStream', query: string, change = (b: Buffer) => b): Make =>
  async (file) =>
    writeFile(file, change(await writeColumnar(format, query)))
const half = (bytes: Buffer): Buffer => bytes.subarray(0, bytes.length / 2)

/** A file of a gigabyte that takes no space: after its first bytes it has only zeros. */
const sparse =
  (start: string): Make =>
  async (file) => {
    await writeFile(file, start)
    await truncate(file, GIGABYTE)
  }

/** A gzip file of a gigabyte, as many members of the same content (RFC 1952 §2.2). */
const bomb =
  (start: string, unit: string): Make =>
  async (file) => {
    const member = gzipSync(unit.repeat(2 ** 24 / unit.length))
    await writeFile(
      file,
      Buffer.concat([gzipSync(start), ...Array<Buffer>(GIGABYTE / 2 ** 24).fill(member)]),
    )
  }

const NOT_JSON = 'row 1 rejected: is not valid JSON'
const all = (rows: number): string =>
  rows === 1
    ? 'its only row could not be read, see $.rejected.ndjson'
    : `all of its ${rows} rows could not be read, see $.rejected.ndjson`
const QUERY = `SELECT '${AT}' AS timestamp, toString(number) AS user_id FROM numbers(1000)`
const TIME = 'timestamp: must be ISO 8601 with Z or an offset, as 2026-01-31T10:00:00.000Z'
const LOG = `192.0.2.7 - - [31/Jan/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 1 "-" "-"`
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48])

/** Writes a zip archive with one deflated file, as far as readers look at its start. */
const zip = (): Buffer => {
  const header = Buffer.alloc(30)
  header.write('PK\x03\x04')
  return Buffer.concat([header, deflateRawSync(EVENT)])
}

const CASES: Readonly<Record<string, Case>> = {
  'a missing file': { make: () => undefined, error: 'no such file' },
  'a folder': { make: (file) => mkdir(file), error: 'is a folder' },
  'an empty file': { make: holding(''), error: 'is empty' },
  'only white space': { make: holding(' \n\t\r\n \n'), error: `is empty${NOTHING}` },
  'only a byte order mark': { make: holding('\ufeff'), error: `is empty${NOTHING}` },
  'an empty gzip file': { make: holding(gzipSync('')), error: `is empty${NOTHING}` },
  'a gzip file that is cut short': {
    make: holding(half(gzipSync(Array.from({ length: 999 }, (_, i) => `${i}${EVENT}`).join('')))),
    error: `the gzip file is damaged (unexpected end of file)${NOTHING}`,
  },
  'a gzip file with a wrong check sum': {
    make: holding(Buffer.concat([gzipSync(EVENT).subarray(0, -8), Buffer.alloc(8, 1)])),
    error: `the gzip file is damaged (incorrect data check)${NOTHING}`,
  },
  'a gzip file followed by other bytes that are not zeros': {
    make: holding(Buffer.concat([gzipSync(EVENT), Buffer.from([0x1f, 0x8b, 9, 9])])),
    error: /^the gzip file is damaged \(.+\); nothing was imported$/,
  },
  'a gzip bomb of zeros': { make: bomb('', '\0'), error: UNRECOGNISED },
  'a gzip bomb of one line': {
    make: bomb('{"timestamp":"', 'x'),
    error: `row 1: is longer than 67108864 bytes${NOTHING}`,
  },
  'a gzip bomb of one CSV cell': {
    make: bomb('timestamp\n"', 'x'),
    error: `row 1: is longer than 1048576 bytes${NOTHING}`,
  },
  'only blank lines': {
    make: holding('\n'.repeat(100_000)),
    args: ['--format', 'ndjson'],
    error: 'has no rows',
  },
  'a line of a gigabyte': {
    make: sparse('{"timestamp":"'),
    error: `row 1: is longer than 67108864 bytes${NOTHING}`,
  },
  'a line of a gigabyte after a row': {
    make: sparse(`${EVENT}{"timestamp":"`),
    // The rows before it are a chunk of their own.
    error: 'row 2: is longer than 67108864 bytes; 1 row before that was imported',
  },
  'a line of a gigabyte in a mapped file': {
    make: sparse('{"t":"'),
    args: ['--map', 'timestamp=t'],
    error: `row 1: is longer than 33554432 bytes${NOTHING}`,
  },
  'a line of a gigabyte in a log': {
    make: sparse(LOG),
    args: ['--format', 'log'],
    error: `row 1: is longer than 33554432 bytes${NOTHING}`,
  },
  'broken JSON': {
    make: holding('{"timestamp":\n{\n'),
    error: all(2),
    notes: [NOT_JSON, 'row 2 rejected: is not valid JSON'],
  },
  'a JSON array': {
    make: holding(`[\n${EVENT}]\n`.replace('{', '  [')),
    error: UNRECOGNISED,
  },
  'JSON over several lines': {
    make: holding(JSON.stringify({ timestamp: AT }, null, 2)),
    error: all(3),
    notes: [NOT_JSON, 'row 2 rejected: is not valid JSON', 'row 3 rejected: is not valid JSON'],
  },
  'unknown fields': {
    make: holding('{"time":"now"}\n'),
    error: all(1),
    notes: ['row 1 rejected: time: is not a known field; timestamp: is required'],
  },
  'NDJSON without a mapped key': {
    make: holding(EVENT),
    args: ['--map', 'user_id=uuid'],
    error: `has no row with a key that --map names: uuid${NOTHING}`,
  },
  'times that are none': {
    make: holding('timestamp\nyesterday\n2026-02-30\n2026-01-31 10:00:00 CET\n'),
    error: all(3),
    notes: [1, 2, 3].map((row) => `row ${row} rejected: ${TIME}`),
  },
  'NUL bytes': { make: holding(Buffer.alloc(5_000)), error: UNRECOGNISED },
  'NUL bytes in a row': {
    make: holding(`{"timestamp":"${AT}","path":"a\0b"}\n`),
    error: all(1),
    notes: [NOT_JSON],
  },
  'UTF-16': {
    make: holding(Buffer.from(`\ufeff${EVENT}`, 'utf16le')),
    error: `is UTF-16; convert it to UTF-8${NOTHING}`,
  },
  'UTF-16, the other bytes first': {
    make: holding(Buffer.from(`\ufeff${EVENT}`, 'utf16le').swap16()),
    error: `is UTF-16; convert it to UTF-8${NOTHING}`,
  },
  'UTF-16 without a mark': {
    make: holding(Buffer.from(`timestamp\n${AT}\n`, 'utf16le')),
    error: UNRECOGNISED,
  },
  'invalid UTF-8': {
    make: holding(Buffer.from(`timestamp,path\n${AT},/\xe9\n`, 'latin1')),
    error: all(1),
    notes: ['row 1 rejected: is not valid UTF-8'],
  },
  'CSV: a header only': { make: holding('timestamp,path\n'), error: 'has no rows' },
  'CSV: a header only, without a line end': { make: holding('timestamp'), error: 'has no rows' },
  'CSV: no header': { make: holding(`${AT},/a\n${AT},/b\n`), error: UNRECOGNISED },
  'CSV: unknown columns': {
    make: holding(`timestamp,uuid,,tier\n${AT},u,,x\n`),
    error:
      'has columns that are not fields of an event: uuid, (no name), tier; map them with ' +
      `--map <field>=<column>, which leaves out all others${NOTHING}`,
  },
  'CSV: a column twice': {
    make: holding(`timestamp,path,path\n${AT},/a,/b\n`),
    error: `has the column path twice${NOTHING}`,
  },
  'CSV: semicolons': {
    make: holding(`timestamp;path\n${AT};/a\n`),
    error: UNRECOGNISED,
  },
  'CSV: --map names no column': {
    make: holding(`timestamp,uuid\n${AT},u\n`),
    args: ['--map', 'user_id=id'],
    error: `has no column id, which --map names; it has timestamp, uuid${NOTHING}`,
  },
  'CSV: a quote that is not closed': {
    make: holding(`timestamp,path\n${AT},"/a\n${AT},/b\n`),
    error: all(1),
    notes: ['row 1 rejected: has a quote that is not closed'],
  },
  'CSV: wrong numbers of cells': {
    make: holding(`timestamp,path\n${AT}\n${AT},/a,/b\n`),
    error: all(2),
    notes: [
      'row 1 rejected: has 1 cells where the header has 2',
      'row 2 rejected: has 3 cells where the header has 2',
    ],
  },
  'a log of an unknown format': {
    make: holding('2026-01-31 10:00:00 GET / 200 192.0.2.7\n'),
    error: UNRECOGNISED,
  },
  'a log of an unknown format, named as one': {
    make: holding('2026-01-31 10:00:00 GET / 200 192.0.2.7\n'),
    args: ['--format', 'log'],
    error: all(1),
    notes: ['row 1 rejected: is not a line of the Common or Combined Log Format'],
  },
  'a log with a mapping': {
    make: holding(`${LOG}\n`),
    args: ['--map', 'path=p'],
    error: `is an access log, which has no columns to --map${NOTHING}`,
  },
  'Parquet that is cut short': {
    make: columnar('Parquet', QUERY, half),
    error: `is not Parquet, or is cut short${NOTHING}`,
  },
  'Parquet with damaged metadata': {
    make: columnar('Parquet', QUERY, (bytes) =>
      bytes.fill(0xaa, bytes.length - 60, bytes.length - 8),
    ),
    error: /^cannot be read as parquet: .+; nothing was imported$/,
  },
  'Parquet with damaged pages': {
    make: columnar('Parquet', QUERY, (bytes) => bytes.fill(0xaa, 4, bytes.length / 2)),
    error: /^cannot be read as parquet: .+; nothing was imported$/,
  },
  'Parquet with an encrypted footer': {
    make: async (file) => {
      const duck = await openDuckDatabase()
      // Its own cryptography suffices: nobody decrypts the file.
      await duck.run(raw(`SET force_mbedtls_unsafe = 'true'`))
      await duck.run(raw(`PRAGMA add_parquet_key('key', '0123456789112345')`))
      await duck.run(
        raw(
          `COPY (SELECT '${AT}' AS timestamp) TO '${file}' (FORMAT parquet, ENCRYPTION_CONFIG {footer_key: 'key'})`,
        ),
      )
      duck.close()
    },
    error: `is Parquet with an encrypted footer; write it without encryption${NOTHING}`,
  },
  'Parquet with wrong types': {
    make: columnar('Parquet', `SELECT [1] AS timestamp, map('a', 1) AS name`),
    error: all(1),
    notes: ['row 1 rejected: timestamp: must be a string; name: must be a string'],
  },
  'Parquet without rows': {
    make: columnar('Parquet', `${QUERY} WHERE 0`),
    error: 'has no rows',
  },
  'Parquet with unknown columns': {
    make: columnar('Parquet', `SELECT '${AT}' AS timestamp, 1 AS uuid`),
    error:
      'has columns that are not fields of an event: uuid; map them with --map <field>=<column>, ' +
      `which leaves out all others${NOTHING}`,
  },
  'Arrow that is cut short': {
    make: columnar('Arrow', QUERY, half),
    error: /^cannot be read as arrow: .+; nothing was imported$/,
  },
  'an Arrow stream that is cut short': {
    make: columnar('ArrowStream', QUERY, half),
    error: /^cannot be read as arrow: .+; nothing was imported$/,
  },
  'Arrow that ends in its schema': {
    make: columnar('ArrowStream', QUERY, (bytes) => bytes.subarray(0, 40)),
    error: /^.+; nothing was imported$/,
  },
  'binary junk': {
    make: holding(Buffer.from(Array.from({ length: 50_000 }, (_, i) => (i * i * 31 + 7) % 256))),
    error: UNRECOGNISED,
  },
  'a picture': { make: holding(PNG), error: UNRECOGNISED },
  'an HTML page': {
    make: holding('<!DOCTYPE html>\n<html><title>Sign in</title></html>\n'),
    error: UNRECOGNISED,
  },
  'a zip archive': {
    make: holding(zip()),
    error: `is a zip archive; unpack it, or compress its files with gzip${NOTHING}`,
  },
  'a file compressed with zstd': {
    make: holding(Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 4, 0, 1, 0, 0])),
    error: `is compressed with zstd; unpack it, or use gzip${NOTHING}`,
  },
  'an origin for another format': {
    make: holding(EVENT),
    args: ['--origin', 'https://shop.example'],
    error: `is ndjson; --origin is for access logs${NOTHING}`,
  },
  'a mapping to an unknown field': {
    make: holding(EVENT),
    args: ['--map', 'uid=uuid'],
    error: /^error: option .* An event has no field uid; its fields are timestamp, .*\.$/,
  },
  'an unknown zone': {
    make: holding(EVENT),
    args: ['--zone', 'Europe/Berlim'],
    error: /^error: option .* Expected the IANA name of a time zone, such as Europe\/Berlin\.$/,
  },
}

/** What an import leaves in the store. */
const countTraces = (): Promise<readonly object[]> =>
  select(
    database.store,
    sql`
SELECT
  (SELECT count() FROM events WHERE project_id = ${string(project)}) AS events,
  (SELECT count() FROM inbox) AS waiting,
  (SELECT count() FROM rejections) AS rejections,
  (SELECT count() FROM system.tables WHERE database = currentDatabase() AND startsWith(name, 'staged_')) AS staged`,
  )

/** The most that the command may add to the memory of the process: a few times the lines of one chunk. */
const MAX_GROWTH_KB = 700_000

let n = 0
test.each(sample(Object.entries(CASES), 4))(
  '%s',
  async (_name, { make, args = [], error, notes = [] }) => {
    const file = path.join(folder, `file-${(n += 1)}`)
    await make(file)
    const before = await countTraces()
    const { maxRSS } = process.resourceUsage()
    const run = async (...more: readonly string[]) => {
      const result = await runCommand(
        addImport,
        ['import', '--project', project, ...args, ...more, file],
        {
          endpoint: database.endpoint,
          now: ARRIVAL,
        },
      )
      const message = result.error?.replaceAll(/\s+/g, ' ').replaceAll(file, '$') ?? ''
      return {
        message: message.replace(/^\$: /, ''),
        rejected: result.stderr.replaceAll(file, '$'),
      }
    }
    const isPartly = typeof error === 'string' && error.includes('before that')
    const { message, rejected } = await run()
    if (typeof error === 'string') expect(message).toBe(error)
    else expect(message).toMatch(error)
    const withoutFile =
      typeof error === 'string' ? error.replace(', see $.rejected.ndjson', '') : error
    // Other sources are refused before it matters whether the import is a dry run.
    const isRead = typeof error === 'string' && /could not be read|has no rows/.test(error)
    if (isRead) expect((await run('--dry-run')).message).toBe(withoutFile)
    expect(rejected.split('\n').filter((line) => line.includes(' rejected: '))).toEqual(
      notes.map((note) => `$: ${note}`),
    )
    if (!isPartly) expect(await countTraces()).toEqual(before)
    expect(process.resourceUsage().maxRSS - maxRSS).toBeLessThan(MAX_GROWTH_KB)
  },
)
