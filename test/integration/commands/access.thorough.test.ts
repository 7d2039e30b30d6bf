/** Commands that only read neither migrate nor rebuild. If the store is not up to date, they name the command to run. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { connect } from '../../../src/clickhouse/connection.js'
import { sql, statement, type Sql } from '../../../src/clickhouse/sql.js'
import { addExplain } from '../../../src/commands/explain/explain.js'
import { addImport } from '../../../src/commands/import/import.js'
import { addKey } from '../../../src/commands/key.js'
import { addMigrate } from '../../../src/commands/migrate.js'
import { addDefinitions } from '../../../src/commands/definitions.js'
import { addProject } from '../../../src/commands/project.js'
import { addRollups } from '../../../src/commands/rollups.js'
import { addUser } from '../../../src/commands/user.js'
import type { AddCommand } from '../../../src/commands/shared/context.js'
import { runCli } from '../../support/cli/cli.js'
import { runCommand, type CommandResult } from '../../support/cli/commands.js'
import { createDatabase, newDatabase, type TestDatabase } from '../../support/store/database.js'
import { createWorld, NOW } from '../../support/world/world.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-access-'))
  await writeFile(path.join(folder, 'query.json'), '{ "date_range": ["2026-01-01", "2026-01-31"] }')
  await writeFile(path.join(folder, 'events.ndjson'), '{ "timestamp": "2026-01-31T10:00:00Z" }\n')
})
afterAll(() => rm(folder, { recursive: true }))

type Command = readonly [AddCommand, string]

/** Commands that read tables, none of which depends on the rollups. */
const TABLE_READERS: readonly Command[] = [
  [addProject, 'project list'],
  [addProject, 'project show shop'],
  [addProject, 'project delete shop'],
  [addUser, 'user delete --project shop u1'],
  [addKey, 'key list'],
  [addDefinitions('goal'), 'goal list --project shop'],
  [addImport, 'import --project shop --dry-run events.ndjson'],
]
/** Commands that read the rollups, whose meaning depends on the build that filled them. */
const ROLLUP_READERS: readonly Command[] = [
  [addExplain, 'explain --project shop query.json'],
  [addRollups, 'rollups check'],
]
const READERS = [...TABLE_READERS, ...ROLLUP_READERS]

describe('a store of another version', () => {
  let database: TestDatabase
  beforeEach(async () => {
    database = await createDatabase()
    await createWorld(database.store, [{ timestamp: '2026-01-31T10:00:00Z', user_id: 'u1' }], {
      id: 'shop',
    })
  })
  afterEach(() => database.drop())

  const run = (add: AddCommand, command: string): Promise<CommandResult> => {
    const args = command.split(' ').map((arg) => (arg.includes('.') ? path.join(folder, arg) : arg))
    return runCommand(add, args, { endpoint: database.endpoint, now: NOW })
  }
  const execute = (text: Sql): Promise<void> => database.store.admin.execute(statement(text))

  /** What migrations and rebuilds leave behind. */
  async function readRecords(): Promise<unknown> {
    const { rows } = await database.store.admin.query(
      statement(sql`
SELECT (SELECT groupArray((number, applied_at)) FROM (SELECT * FROM migrations ORDER BY number)) AS migrations,
  (SELECT groupArray((definition, built_at)) FROM (SELECT * FROM rollup_builds ORDER BY built_at)) AS builds`),
    )
    return rows
  }

  test('all commands refuse one that is older than version 0.1.0', async () => {
    await execute(sql`TRUNCATE TABLE migrations`)
    await execute(sql`INSERT INTO migrations (number, name) SELECT 26, '0026_moves.sql'`)
    const before = await readRecords()
    for (const [add, command] of [...READERS, [addMigrate, 'migrate'] as const]) {
      expect([command, await run(add, command)]).toEqual([
        command,
        {
          stdout: '',
          stderr: '',
          error:
            'migration 0026_moves.sql: it is the last one of this database, which is older than version 0.1.0: start 0.1.0 on it first, then this version',
        },
      ])
    }
    expect(await readRecords()).toEqual(before)
  })

  test('only those that read rollups refuse rollups of another definition', async () => {
    await execute(
      sql`INSERT INTO rollup_builds (definition, built_at) SELECT 'older', now64(3) + 1`,
    )
    const before = await readRecords()
    for (const [add, command] of TABLE_READERS) {
      const { error = '' } = await run(add, command)
      expect([command, error]).toEqual([
        command,
        expect.stringMatching(/^(this would permanently delete .*)?$/),
      ])
    }
    for (const [add, command] of ROLLUP_READERS) {
      expect([command, await run(add, command)]).toEqual([
        command,
        {
          stdout: '',
          stderr: '',
          error: 'the rollups are out of date: run "tallyhouse migrate"',
        },
      ])
    }
    expect(await readRecords()).toEqual(before)
  })
})

test('commands that only read do not make a database', async () => {
  const endpoint = newDatabase()
  for (const [add, command] of READERS) {
    const args = command.split(' ').map((arg) => (arg.includes('.') ? path.join(folder, arg) : arg))
    expect([command, await runCommand(add, args, { endpoint, now: NOW })]).toEqual([
      command,
      {
        stdout: '',
        stderr: '',
        error: 'the database is not set up yet: run "tallyhouse migrate"',
      },
    ])
  }
  const outside = connect({ ...endpoint, database: 'system' }, 'admin')
  const { rows } = await outside.query(statement(sql`SELECT name FROM system.databases`))
  expect(rows).not.toContainEqual({ name: endpoint.database })
  await outside.close()
})

describe('a data folder', () => {
  let dataDir: string
  beforeEach(async () => {
    dataDir = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-access-data-'))
  })
  afterEach(() => rm(dataDir, { recursive: true, force: true }))
  const run = (...args: readonly string[]) => runCli(args, { DATA_DIR: dataDir })

  test('that is empty stays empty', async () => {
    expect(await run('key', 'list')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'tallyhouse: the database is not set up yet: run "tallyhouse migrate"\n',
    })
    expect(await readdir(dataDir)).toEqual([])
  })

  test('that was set up is read by an engine that ends with the command', async () => {
    expect(await run('migrate')).toMatchObject({ code: 0 })
    expect(await run('key', 'list', '--json')).toEqual({ code: 0, stdout: '[]\n', stderr: '' })
    expect(await run('project', 'show', 'shop')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'tallyhouse: there is no project shop\n',
    })
  })
})
