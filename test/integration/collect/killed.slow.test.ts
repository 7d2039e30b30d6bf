/** The engine is killed while events arrive: every accepted event counts once. */
import { expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { migrate } from '../../../src/clickhouse/migrations/migrate.js'
import { sql, statement } from '../../../src/clickhouse/sql.js'
import { connectStore } from '../../../src/clickhouse/store.js'
import { withLease } from '../../../src/clickhouse/lease/lease.js'
import { readConfig } from '../../../src/config/config.js'
import { createLogger } from '../../../src/lib/log.js'
import { startService } from '../../../src/bootstrap/serving/start-service.js'
import { toCluster } from '../../../src/cluster/cluster.js'
import { scaled } from '../../support/effort.js'
import { newProject } from '../../support/world/world.js'
import { aDataDir, anEngine } from '../clickhouse/embedded/support.js'
import { until } from '../../support/until.js'
import { ensureRollups, loadWaiting } from '../../support/store/loading.js'

const KILLS = scaled(2)
const SENDERS = 20

test(`after ${KILLS} kills under load, every accepted event counts once`, async () => {
  const dataDir = await aDataDir()
  const engine = await anEngine(dataDir)
  await migrate(engine.endpoint)
  const store = connectStore(engine.endpoint)
  const { token } = await newProject(store)
  const service = await startService({
    config: readConfig({ PORT: '0', NODE_ENV: 'test', ROLE: 'collector', DATA_DIR: dataDir }),
    cluster: toCluster(store),
    logger: createLogger('silent'),
    now: () => new Date('2026-03-10T12:00:00Z'),
  })

  const accepted: string[] = []
  const others = new Set<number>()
  const load = { isOn: true, next: 0 }
  const sender = async (): Promise<void> => {
    while (load.isOn) {
      const id = `e${load.next++}`
      const { status } = await fetch(`${service.address}/v1/events`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ token, event_id: id, user_id: 'u' }),
      })
      if (status === 202) accepted.push(id)
      else others.add(status)
    }
  }
  const senders = Array.from({ length: SENDERS }, sender)
  try {
    for (let kills = 0; kills < KILLS; kills++) {
      const before = accepted.length
      await until(() => accepted.length > before + 100)
      await sleep(Math.random() * 50)
      process.kill(engine.pid, 'SIGKILL')
    }
    const before = accepted.length
    await until(() => accepted.length > before + 100)
  } finally {
    load.isOn = false
    await Promise.all(senders)
  }

  const { writer } = store
  const { rows } = await writer.query<{ id: string }>(
    statement(sql`SELECT DISTINCT JSONExtractString(line, 'event_id') AS id FROM inbox`),
  )
  const kept = new Set(rows.map(({ id }) => id))
  expect(accepted.filter((id) => !kept.has(id))).toEqual([])
  await ensureRollups(store)
  await withLease(writer, 'loader', () => loadWaiting(writer))
  const events = await writer.query(statement(sql`SELECT count() AS loaded FROM events`))
  expect(events.rows).toEqual([{ loaded: kept.size }])
  expect([...others].filter((status) => status !== 503)).toEqual([])
  await service.stop()
  await store.close()
})
