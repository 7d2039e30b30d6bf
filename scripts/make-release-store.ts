/**
 * Makes the store of a release, for tests of upgrades: `npm run store`. It writes `test/support/stores/store-of-VERSION.tar.gz`, a
 * DATA_DIR that was left as a killed service leaves one, with
 * - the project `shop`, with an API key in the file `key`, and published events with their rollups;
 * - a load that was killed between staging and publishing, with a late event, a new user and a repeated event id;
 * - events that wait in the inbox, one of them a repetition of a staged one;
 * - the project `old`, whose deletion was killed after its API keys had ended.
 *
 * All moments are fixed. What the store holds once all is finished stands in `test/support/stores/release-store.ts`.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { startEngine } from '../src/clickhouse/embedded/engine.js'
import type { Endpoint } from '../src/clickhouse/endpoint.js'
import { withLease } from '../src/clickhouse/lease/lease.js'
import { migrate } from '../src/clickhouse/migrations/migrate.js'
import { sql, statement } from '../src/clickhouse/sql.js'
import { connectStore, type Store } from '../src/clickhouse/store.js'
import { addKey } from '../src/commands/key.js'
import { beginDeletion } from '../src/deletion/delete-project.js'
import { findUnfinishedDeletions } from '../src/deletion/journal.js'
import { findUnfinishedLoads, STEP } from '../src/ingest/loader/load-log.js'
import { packagePath } from '../src/lib/package-path.js'
import { createProject } from '../src/projects/store.js'
import { runCommand } from '../test/support/cli/commands.js'
import { breakAfter, BrokenError } from '../test/support/store/breaking.js'
import { createContext, ensureRollups, loadStream } from '../test/support/store/loading.js'
import { feed, loadInbox } from '../test/support/store/stream.js'
import { PUBLISHED, STAGED, WAITING } from '../test/support/stores/release-store.js'

const NOW = new Date('2026-01-31T10:00:00Z')
const ARRIVAL = '2026-01-31 10:00:00.000'

/** The files of a data folder that a service writes again, or that only one machine can use. */
const LEFT_OUT = ['clickhouse/tmp', 'clickhouse/lock', 'clickhouse/engine.json', '*.log']

async function fill(store: Store, endpoint: Endpoint, dataDir: string): Promise<void> {
  await createProject(store, { id: 'shop', name: 'Shop', domain: 'shop.example' }, NOW)
  await createProject(store, { id: 'old', name: 'Old', domain: 'old.example' }, NOW)
  const { stdout, error } = await runCommand(addKey, ['key', 'issue', '--project', 'shop'], {
    endpoint,
    now: NOW,
    env: { DATA_DIR: dataDir },
  })
  if (error !== undefined) throw new Error(error)
  await writeFile(path.join(dataDir, 'key'), stdout.trim())

  await feed(store, 'shop', PUBLISHED, ARRIVAL)
  await feed(store, 'old', PUBLISHED, ARRIVAL)
  await loadInbox(store)
  await beginDeletion(store.writer, 'old', createContext())
  await feed(store, 'shop', STAGED, ARRIVAL)
  await stageLoad(store)
  await feed(store, 'shop', WAITING, ARRIVAL)
}

/** Runs the next load until it is staged, as if the process had been killed there. */
const stageLoad = (store: Store): Promise<void> =>
  withLease(store.writer, 'loader', async () => {
    // A loader reads the step of its load once it is staged, just before it publishes.
    const killed = breakAfter(store.writer, /SELECT max\(step\)/)
    await loadStream(killed).catch((error: unknown) => {
      if (!(error instanceof BrokenError)) throw error
    })
  })

async function main(): Promise<void> {
  const { version } = JSON.parse(await readFile(packagePath('package.json'), 'utf8')) as {
    version: string
  }
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-store-'))
  const onEvent = (): void => undefined
  const engine = await startEngine({ dataDir, purpose: 'the store of a release', onEvent })
  const store = connectStore(engine.endpoint)
  try {
    await migrate(engine.endpoint)
    await ensureRollups(store)
    await fill(store, engine.endpoint, dataDir)
    await requireUnfinishedWork(store)
    // The log of the queries would be most of the archive. The engine creates it again.
    await store.admin.execute(statement(sql`SYSTEM FLUSH LOGS query_log`))
    await store.admin.execute(statement(sql`DROP TABLE IF EXISTS system.query_log SYNC`))
  } finally {
    await store.close()
    await engine.stop()
  }
  const archive = packagePath(`test/support/stores/store-of-${version}.tar.gz`)
  const excluded = LEFT_OUT.map((name) => `--exclude=${name}`)
  await promisify(execFile)('tar', ['-czf', archive, ...excluded, '-C', dataDir, '.'])
  await rm(dataDir, { recursive: true })
  console.log(archive)
}

async function requireUnfinishedWork({ writer }: Store): Promise<void> {
  const [load] = await findUnfinishedLoads(writer)
  if (load?.step !== STEP.staged) throw new Error('no load is staged')
  const deletions = await findUnfinishedDeletions(writer)
  if (deletions.length !== 1) throw new Error('no deletion has begun')
}

await main()
