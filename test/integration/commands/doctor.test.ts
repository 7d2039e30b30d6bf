/** `tallyhouse doctor` on a healthy store and on sick ones. It changes none of them. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { acquireLease } from '../../../src/clickhouse/lease/lease.js'
import { sql, statement, type Sql } from '../../../src/clickhouse/sql.js'
import { addDoctor } from '../../../src/commands/operate/doctor.js'
import { runCli } from '../../support/cli/cli.js'
import { runCommand, type CommandResult } from '../../support/cli/commands.js'
import { thoroughTest } from '../../support/effort.js'
import { createDatabase, newDatabase, type TestDatabase } from '../../support/store/database.js'
import { loadWaiting } from '../../support/store/loading.js'
import { createKeys, type TestKeys } from '../../support/world/keys.js'

interface Row {
  readonly name: string
  readonly verdict: string
  readonly finding: string
  readonly advice: string | null
}

const MIGRATE = 'run "tallyhouse migrate"'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-doctor-'))
})
afterAll(() => rm(folder, { recursive: true }))

describe('a store', () => {
  let database: TestDatabase
  let keys: TestKeys
  beforeEach(async () => {
    database = await createDatabase()
    keys = await createKeys(database.store)
  })
  afterEach(async () => {
    await database.drop()
    await keys.remove()
  })

  const run = (...args: readonly string[]): Promise<CommandResult> =>
    runCommand(addDoctor, ['doctor', ...args], {
      endpoint: database.endpoint,
      now: new Date(),
      env: { DATA_DIR: keys.dataDir },
    })
  const write = (text: Sql): Promise<void> => database.store.admin.execute(statement(text))

  /** Returns the rows that are not `ok`, except that one account does everything here, and the disk may be full. */
  async function findFaults(): Promise<readonly Row[]> {
    const { stdout } = await run('--json')
    return (JSON.parse(stdout) as readonly Row[]).filter(
      ({ name, verdict }) =>
        verdict !== 'ok' &&
        !['accounts of their own', 'the rights of the reader', 'disk'].includes(name),
    )
  }

  async function readTables(): Promise<unknown> {
    const { rows } = await database.store.admin.query(
      statement(sql`
SELECT name, toString(uuid) AS uuid, total_rows FROM system.tables WHERE database = currentDatabase() ORDER BY name`),
    )
    return rows
  }

  test('that is healthy: one line per check, and nothing is changed', async () => {
    const before = await readTables()
    const { stdout, error } = await run()
    expect(error).toBeUndefined()
    expect(
      [...stdout.matchAll(/^(ok|warn|fail) +(\S.*?) {2,}/gm)].map(([, , name]) => name),
    ).toEqual([
      ...['configuration', 'data folder', 'signing key', 'store', 'the version of ClickHouse'],
      ...['one server', 'the engine of the database', 'the engines of the tables'],
      ...['accounts of their own', 'the rights of the reader', 'rights of the writer'],
      ...[
        'rights of the reader',
        'clocks',
        'disk',
        'migrations',
        'public keys',
        'rollups',
        'loader',
      ],
      ...['inbox', 'loads', 'temporary tables'],
    ])
    expect(stdout).toMatch(/^ok +public keys +1 of 1 valid$/m)
    expect(stdout).toMatch(/^warn +accounts of their own .*\n +→ set CLICKHOUSE_READER_USER to /m)
    expect(await findFaults()).toEqual([])
    expect(await readTables()).toEqual(before)
  })

  thoroughTest('whose database is older than version 0.1.0, and lacks a table', async () => {
    await write(sql`TRUNCATE TABLE migrations`)
    await write(sql`INSERT INTO migrations (number, name) SELECT 26, '0026_moves.sql'`)
    await write(sql`DROP TABLE public_keys`)
    const before = await readTables()
    const { error } = await run()
    expect(error).toBe('1 check failed')
    expect(await findFaults()).toEqual([
      {
        name: 'migrations',
        verdict: 'fail',
        finding:
          'migration 0026_moves.sql: it is the last one of this database, which is older than version 0.1.0: start 0.1.0 on it first, then this version',
        advice: 'run a version that knows these migrations, or restore a backup',
      },
    ])
    expect(await readTables()).toEqual(before)
  })

  thoroughTest('whose database is newer', async () => {
    await write(sql`INSERT INTO migrations (number, name, checksum) SELECT 9999, '9999_x.sql', ''`)
    expect(await findFaults()).toEqual([
      expect.objectContaining({
        name: 'migrations',
        finding: expect.stringMatching(
          /^migration 9999_x.sql: it was applied to this database but/,
        ),
      }),
    ])
  })

  thoroughTest('with rollups of another definition', async () => {
    await write(sql`INSERT INTO rollup_builds (definition, built_at) SELECT 'other', now64(3) + 1`)
    expect(await findFaults()).toEqual([
      expect.objectContaining({ name: 'rollups', verdict: 'fail', finding: expect.any(String) }),
    ])
  })

  thoroughTest('whose loader cannot go on', async () => {
    await write(sql`
INSERT INTO inbox (line, received_at) SELECT '{}', now64(3) - 3600`)
    // The rows of the staged load are gone.
    await write(sql`INSERT INTO loads (load, batch, step) SELECT 7, 'stream-0-1', 2`)
    await expect(loadWaiting(database.store.writer)).rejects.toThrow(
      'the staged rows of load 7 are missing',
    )
    const [inbox, loads, ...rest] = await findFaults()
    expect(inbox).toMatchObject({
      name: 'inbox',
      verdict: 'fail',
      finding: expect.stringMatching(/^1 event waiting, the oldest for 3,6\d\d seconds$/),
      advice: expect.stringMatching(/^start "tallyhouse serve"/),
    })
    expect(loads).toMatchObject({
      name: 'loads',
      verdict: 'fail',
      finding: 'load 7 is staged and nobody goes on with it',
    })
    expect(rest).toEqual([])
  })

  thoroughTest('without keys', async () => {
    await write(sql`TRUNCATE TABLE public_keys`)
    expect(await findFaults()).toMatchObject([
      {
        name: 'public keys',
        verdict: 'fail',
        finding: 'none is valid, so every API key is refused',
      },
    ])
  })

  thoroughTest(
    'with tables that a killed loader left, which are those of a running one',
    async () => {
      await write(sql`CREATE TABLE load_7_rows (a UInt8) ENGINE = Memory`)
      await write(sql`CREATE TABLE load_7_rows_of_mine (a UInt8) ENGINE = Memory`)
      expect(await findFaults()).toMatchObject([
        { name: 'temporary tables', verdict: 'warn', finding: 'nobody uses load_7_rows' },
      ])
      const lease = await acquireLease(database.store.writer, 'loader')
      expect(await findFaults()).toEqual([])
      expect((await run()).stdout).toContain(
        `process ${process.pid} on ${os.hostname()} holds its lease`,
      )
      await lease.release()
    },
  )
})

describe('without a store', () => {
  const run = async (env: NodeJS.ProcessEnv): Promise<readonly [number, readonly Row[]]> => {
    const { code, stdout } = await runCli(['doctor', '--json'], { DATA_DIR: folder, ...env })
    return [code, JSON.parse(stdout) as readonly Row[]]
  }

  test.each<[string, NodeJS.ProcessEnv, object]>([
    [
      'a wrong variable',
      { PORT: 'x' },
      {
        name: 'configuration',
        verdict: 'fail',
        finding: 'PORT must be an integer from 0 to 65535, not "x"',
      },
    ],
    [
      'nothing at the address',
      { CLICKHOUSE_URL: 'http://admin:secret@127.0.0.1:9/stats' },
      {
        name: 'store',
        verdict: 'fail',
        finding: expect.stringMatching(
          /^ClickHouse at http:\/\/127.0.0.1:9 does not respond: .*ECONNREFUSED/,
        ),
      },
    ],
    [
      'an empty data folder',
      {},
      {
        name: 'store',
        verdict: 'fail',
        finding: expect.stringMatching(/^there is no database in /),
      },
    ],
  ])('%s', async (_why, env, want) => {
    const [code, rows] = await run(env)
    expect(code).toBe(1)
    expect(rows.at(-1)).toMatchObject(want)
    expect(rows.filter(({ verdict }) => verdict === 'fail')).toHaveLength(1)
    expect(JSON.stringify(rows)).not.toContain('secret')
  })

  thoroughTest('a store that hangs', async () => {
    const hanging = net.createServer(() => undefined).listen(0, '127.0.0.1')
    await once(hanging, 'listening')
    const { port } = hanging.address() as net.AddressInfo
    const [code, rows] = await run({ CLICKHOUSE_URL: `http://127.0.0.1:${port}/stats` })
    hanging.close()
    expect(code).toBe(1)
    expect(rows.at(-1)).toMatchObject({
      name: 'store',
      finding: `ClickHouse at http://127.0.0.1:${port} does not respond: no answer within 5 seconds`,
    })
  })

  test('a database that does not exist', async () => {
    const { stdout } = await runCommand(addDoctor, ['doctor', '--json'], {
      endpoint: newDatabase(),
      now: new Date(),
      env: { DATA_DIR: folder },
    })
    const rows = JSON.parse(stdout) as readonly Row[]
    expect(rows.filter(({ verdict }) => verdict === 'fail')).toEqual([
      {
        name: 'migrations',
        verdict: 'fail',
        finding: 'the database is not set up yet',
        advice: MIGRATE,
      },
    ])
  })

  thoroughTest('a file of keys that is none', async () => {
    const dataDir = await mkdtemp(path.join(folder, 'keys-'))
    const file = path.join(dataDir, 'keys', 'signing-key.json')
    await mkdir(path.dirname(file))
    await writeFile(file, 'no key')
    const [, rows] = await run({ DATA_DIR: dataDir })
    expect(rows).toContainEqual({
      name: 'signing key',
      verdict: 'fail',
      finding: `${file} is not JSON`,
      advice: 'restore DATA_DIR/keys from a copy, or run "tallyhouse key rotate"',
    })
  })
})
