/** A loader without rows: it asks little, and looks at once when its process has stored events. */
import { expect, test } from '@jest/globals'
import { connectStore } from '../../../../src/clickhouse/store.js'
import { sql, statement, string } from '../../../../src/clickhouse/sql.js'
import { createLogger } from '../../../../src/lib/log.js'
import { DAY_MS } from '../../../../src/lib/time.js'
import { withDatabase } from '../../../support/store/database.js'
import { select } from '../../../support/store/facts.js'
import { startStreamingLoader } from '../../../support/store/loading.js'
import { until } from '../../../support/until.js'
import { startTestService } from '../../../support/world/service.js'
import { newProject } from '../../../support/world/world.js'

const database = withDatabase()

test('an idle loader sends no statement before its pause ends, and loads what the collector stores', async () => {
  const project = await newProject(database.store)
  let statements = 0
  let releases = 0
  let isIdle = false
  const store = connectStore(database.endpoint, {
    onStatementStart: () => statements++,
    // After it has released its lease, the loader looks once more.
    onStatementEnd: ({ connection }) => (isIdle ||= connection === 'lookups'),
  })
  const loader = startStreamingLoader({
    store,
    logger: createLogger('silent'),
    observer: {
      onLease: (isHeld) => {
        isIdle = false
        if (!isHeld) releases++
      },
      onLoad: () => undefined,
      onResumed: () => undefined,
      onLoadFailure: () => undefined,
    },
    // A loader that were not woken would look again in a day.
    intervals: { loadMs: 0, pollMs: 1, idlePollMs: DAY_MS, idleMs: 0 },
  })
  const service = await startTestService({
    store: database.store,
    now: () => new Date(),
    env: { ROLE: 'collector' },
    onStored: () => loader.wake(),
  })
  const countEvents = async (): Promise<number> =>
    (
      await select(
        database.store,
        sql`SELECT 1 FROM events WHERE project_id = ${string(project.id)}`,
      )
    ).length
  try {
    for (const sent of [1, 2]) {
      await until(() => releases >= sent && isIdle)
      const idle = statements
      for (let n = 0; n < 50; n++) await database.store.reader.query(statement(sql`SELECT 1`))
      // Once in ten seconds it also looks for changes that were left open.
      expect(statements - idle).toBeLessThanOrEqual(1)

      const { status } = await fetch(`${service.address}/v1/events`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ token: project.token, user_id: 'u' }),
      })
      expect(status).toBe(202)
      await until(async () => (await countEvents()) === sent)
    }
  } finally {
    await service.stop()
    await loader.stop()
    await store.close()
  }
})
