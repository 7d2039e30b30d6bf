/** Topping up the demo, at a start and while it runs: its history is continued up to now, without gaps or duplicates. */
import { expect, test } from '@jest/globals'
import { sql } from '../../../src/clickhouse/sql.js'
import { toCluster } from '../../../src/cluster/cluster.js'
import { generateEvents } from '../../../src/demo/events.js'
import { startLiveTraffic } from '../../../src/demo/live-traffic.js'
import { withDatabase } from '../../support/store/database.js'
import { select } from '../../support/store/facts.js'
import { send } from '../../support/world/world.js'
import { createContext, topUpDemo } from '../../support/store/loading.js'

const database = withDatabase()

test('a visit to the demo page does not hide the history before it', async () => {
  const { store } = database
  const first = new Date('2026-03-10T08:00:00Z')
  const { project } = await topUpDemo(store, { now: first, days: 2 })
  await send(store, project, [
    { timestamp: '2026-03-10T14:00:00Z', user_id: 'me', url: 'http://127.0.0.1:8080/demo' },
  ])
  const now = new Date('2026-03-10T16:00:00Z')
  await topUpDemo(store, { now, days: 2 })
  const all = [
    ...generateEvents({ start: project.createdAt, from: project.createdAt, until: now }),
  ].flat()
  expect(
    await select(
      store,
      sql`SELECT count() AS events, countIf(origin = 'http://127.0.0.1:8080') AS own FROM events`,
    ),
  ).toEqual([{ events: all.length + 1, own: 1 }])
})

test('while it runs, visits are imported as they happen, also over midnight', async () => {
  const { store } = database
  const moments = ['2026-03-10T20:00:00Z', '2026-03-10T20:10:00Z', '2026-03-11T00:30:00Z'].map(
    (text) => new Date(text),
  )
  const { project } = await topUpDemo(store, { now: moments[0]!, days: 2 })
  for (const [i, until] of moments.slice(1).entries()) {
    const failures: unknown[] = []
    const stop = startLiveTraffic(toCluster(store), {
      project,
      since: moments[i]!,
      now: () => until,
      getLoader: () => createContext(),
      onFailure: (error) => failures.push(error),
    })
    await stop()
    const start = project.createdAt
    const all = [...generateEvents({ start, from: start, until })].flat()
    const [loaded] = await select(
      store,
      sql`
        SELECT count() AS events, toString(max(timestamp)) AS last
        FROM events WHERE origin = 'https://shop.example'`,
    )
    expect({ failures, ...loaded }).toEqual({
      failures: [],
      events: all.length,
      last: all.at(-1)!.timestamp.slice(0, -1).replace('T', ' '),
    })
  }
})
