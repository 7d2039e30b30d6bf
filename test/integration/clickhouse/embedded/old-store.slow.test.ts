/** A store of an earlier version is brought up to date: its answers stay the same. */
import { afterEach, beforeEach, expect } from '@jest/globals'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { parsePlace } from '../../../../src/clickhouse/backup/backup-place.js'
import { restoreBackup } from '../../../../src/clickhouse/backup/restore.js'
import type { Engine } from '../../../../src/clickhouse/embedded/engine.js'
import { migrate } from '../../../../src/clickhouse/migrations/migrate.js'
import { readMigrationStatus } from '../../../../src/clickhouse/migrations/migration-status.js'
import { sql, statement } from '../../../../src/clickhouse/sql.js'
import { connectStore, type Store } from '../../../../src/clickhouse/store.js'
import { addMigrate } from '../../../../src/commands/migrate.js'
import { packagePath } from '../../../../src/lib/package-path.js'
import { findProject } from '../../../../src/projects/store.js'
import { runCommand } from '../../../support/cli/commands.js'
import { thoroughTest as test } from '../../../support/effort.js'
import { expectConsistentFacts, select } from '../../../support/store/facts.js'
import { checkRollups } from '../../../support/store/loading.js'
import {
  LARGE_SIZES,
  NOW,
  runQuery,
  send,
  type PartialRequest,
} from '../../../support/world/world.js'
import { aClient, aDataDir, anEngine, answering } from './support.js'
import { until } from '../../../support/until.js'

/**
 * A backup that the version before wrote, with sessions that were changed by late events, and questions with the answers
 * that it gave.
 */
const BACKUP = packagePath('test/support/stores/store-of-0020.tar.gz')
const ANSWERS = packagePath('test/support/stores/store-of-0020.json.gz')
const MISSING = [
  '0021_user_keys.sql',
  '0022_days.sql',
  '0023_project_changes.sql',
  '0024_whole_sessions.sql',
  '0025_shards.sql',
  '0026_moves.sql',
  '0027_widths.sql',
  '0028_widening.sql',
  '0029_exit_pages.sql',
  '0030_region_language.sql',
  '0031_key_scopes.sql',
  '0032_cutoffs.sql',
]

const run = promisify(execFile)

interface Answered {
  readonly project: string
  readonly asked: PartialRequest
  readonly answer: unknown
}

let engine: Engine
let store: Store
beforeEach(async () => {
  const folder = await aDataDir()
  await run('tar', ['-xzf', BACKUP, '-C', folder])
  engine = await anEngine(await aDataDir())
  store = connectStore(engine.endpoint)
  const place = parsePlace(path.join(folder, 'store'))
  await restoreBackup(engine.endpoint, place, () => Promise.resolve())
})
afterEach(() => store.close())

async function expectSameAnswers(): Promise<void> {
  const answered = JSON.parse(gunzipSync(await readFile(ANSWERS)).toString()) as readonly Answered[]
  for (const { project, asked, answer } of answered) {
    const found = (await findProject(store.reader, project))!
    for (const sizes of [undefined, LARGE_SIZES]) {
      const now = await runQuery(store, found, asked, NOW, sizes)
      expect({ project, asked, answer: now }).toEqual({ project, asked, answer })
    }
  }
}

async function countUnfinished(): Promise<number> {
  const { rows } = await store.admin.query<{ left: number }>(
    statement(
      sql`SELECT toUInt32(count()) AS left FROM system.mutations WHERE database = currentDatabase() AND NOT is_done`,
    ),
  )
  return rows[0]!.left
}

test('its answers are the same after the migration, also if the engine is killed within', async () => {
  for (const table of [sql`events`, sql`sessions`]) {
    await store.admin.execute(statement(sql`SYSTEM STOP MERGES ${table}`))
  }
  const killed = new AbortController()
  const stopped = migrate(engine.endpoint, { stop: killed.signal })
  await until(async () => (await countUnfinished()) > 0)
  process.kill(engine.pid, 'SIGKILL')
  killed.abort()
  await expect(stopped).rejects.toThrow()
  await answering(aClient(engine.endpoint, 'reader'))
  expect((await migrate(engine.endpoint)).at(-1)).toBe(MISSING.at(-1))
  expect(await countUnfinished()).toBe(0)
  await expectSameAnswers()

  await send(store, { id: 'shop' }, [
    // Within stored sessions, before one of them, and in a session of its own.
    { timestamp: '2026-02-11T23:50:00Z', user_id: 'u3', path: '/late', country: 'AT' },
    { timestamp: '2026-03-01T23:40:00Z', user_id: 'u7', path: '/late', country: 'FR' },
    { timestamp: '2026-06-10T12:00:00Z', user_id: 'new', path: '/', country: 'FR' },
  ])
  await expectConsistentFacts(store, 'shop')
  expect(await checkRollups(store.writer, {})).toMatchObject({ different: 0 })
  expect(
    await select(
      store,
      sql`SELECT countIf(day != toDate(timestamp)) AS wrong FROM events UNION ALL SELECT countIf(start_day != toDate(start_at) OR duration_ms != dateDiff('ms', start_at, end_at)) FROM sessions`,
    ),
  ).toEqual([{ wrong: 0 }, { wrong: 0 }])
})

test('migrate --dry-run says what would be written, and changes nothing', async () => {
  const runDry = async () => {
    const options = { endpoint: engine.endpoint, now: NOW }
    const { stdout, ...rest } = await runCommand(addMigrate, ['migrate', '--dry-run'], options)
    // The rest depends on the machine, and on what ClickHouse has merged since the restore.
    const text = stdout
      .replaceAll(/about \d+ seconds?/g, 'soon')
      .replaceAll(/of [\d,]+ rows of/g, 'of the rows of')
    return { stdout: text, ...rest }
  }
  const about = 'soon, at most 1 MB of room for some minutes'
  for (let i = 0; i < 2; i += 1) {
    expect(await runDry()).toEqual({
      stdout: [
        ...MISSING.map((name) => `would apply ${name}`),
        `ClickHouse writes day of the rows of events: ${about}`,
        `ClickHouse writes start_day, end_at, entry_at, pageviews, events, duration_ms of the rows of sessions: ${about}\n`,
      ].join('\n'),
      stderr: '',
      error: undefined,
    })
  }
  expect((await readMigrationStatus(store.reader)).missing).toEqual(MISSING)
  expect(await migrate(engine.endpoint)).toEqual(MISSING)
  expect(await runDry()).toMatchObject({ stdout: 'nothing to apply\n' })
})
