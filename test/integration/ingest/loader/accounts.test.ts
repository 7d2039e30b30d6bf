/** The service's accounts have the rights they need: the writer for every step of a load, the reader for queries. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { migrate } from '../../../../src/clickhouse/migrations/migrate.js'
import { connectStore, type Store } from '../../../../src/clickhouse/store.js'
import { getTestEndpoint } from '../../../support/engine/engine.js'
import { runQuery, createWorld, send } from '../../../support/world/world.js'

let store: Store
beforeAll(async () => {
  const endpoint = getTestEndpoint()
  await migrate(endpoint)
  store = connectStore(endpoint)
})
afterAll(() => store.close())

test('a load with a late event and an invalid row works, and so does a query', async () => {
  const project = await createWorld(store, [
    { timestamp: '2026-01-10T10:10:00Z', user_id: 'a', path: '/second', country: 'DE' },
  ])
  const { report } = await send(store, project, [
    { timestamp: '2026-01-10T10:00:00Z', user_id: 'a', path: '/first', country: 'FR' },
    { timestamp: 'yesterday', user_id: 'a' },
  ])
  expect(report).toMatchObject({ received: 2, events: 1, duplicates: 0, rejected: 1 })
  const { data } = await runQuery(store, project, {
    date_range: ['2026-01-10', '2026-01-10'],
    metrics: ['users', 'pageviews', 'bounce_rate', 'visit_duration'],
    group_by: ['country'],
    filters: [{ type: 'page', path: { value: '/second', operator: 'eq' } }],
  })
  expect(data).toEqual([
    {
      group: { country: 'FR' },
      metrics: { users: 1, pageviews: 1, bounce_rate: 0, visit_duration: 600 },
    },
  ])
})
