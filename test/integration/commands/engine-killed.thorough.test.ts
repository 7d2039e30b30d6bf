/** The engine of a service is killed while a command uses it: the command says what happened, and can be run again. */
import { expect, test } from '@jest/globals'
import { startEngine } from '../../../src/clickhouse/embedded/engine.js'
import { migrate } from '../../../src/clickhouse/migrations/migrate.js'
import { sql, statement } from '../../../src/clickhouse/sql.js'
import { connectStore } from '../../../src/clickhouse/store.js'
import { runCli } from '../../support/cli/cli.js'
import { ensureRollups } from '../../support/store/loading.js'
import { until } from '../../support/until.js'
import { createWorld } from '../../support/world/world.js'
import { aClient, aDataDir, answering } from '../clickhouse/embedded/support.js'

const MONTHS = ['2025-11', '2025-12', '2026-01']

test('rollups rebuild ends with 1 and one line, and the next one finishes', async () => {
  const DATA_DIR = await aDataDir()
  const engine = await startEngine({ dataDir: DATA_DIR, purpose: 'tallyhouse serve' })
  const store = connectStore(engine.endpoint)
  try {
    await migrate(engine.endpoint)
    await ensureRollups(store)
    await createWorld(
      store,
      MONTHS.map((month) => ({ timestamp: `${month}-10T10:00:00Z`, user_id: 'u' })),
    )
    const rebuilding = runCli(['rollups', 'rebuild'], { DATA_DIR })
    const inserts = statement(sql`SELECT 1 FROM system.processes WHERE query_kind = 'Insert'`)
    await until(async () => (await store.admin.query(inserts)).rows.length > 0)
    process.kill(engine.pid, 'SIGKILL')

    const rebuilt = MONTHS.map((month) => `${month} rebuilt(; about .+ left)?\n`)
    expect(await rebuilding).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        new RegExp(
          `^(${rebuilt.join('|')})*tallyhouse: ClickHouse does not respond: [^\n]+\\. ` +
            'Run it again: it starts with the first month\\.\n$',
        ),
      ),
    })

    await answering(aClient(engine.endpoint, 'reader'))
    expect(await runCli(['rollups', 'rebuild'], { DATA_DIR })).toEqual({
      code: 0,
      stdout: '',
      stderr: expect.stringMatching(new RegExp(`^${rebuilt.join('')}$`)),
    })
  } finally {
    await store.close()
    await engine.stop()
  }
})
