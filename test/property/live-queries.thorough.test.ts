/** Queries while the loader publishes: every answer agrees with itself. */
import { expect, test } from '@jest/globals'
import { pino } from 'pino'
import type { AnalyticsQueryResponse } from '../../src/contract/api.js'
import { countWaitingRows } from '../../src/ingest/loader/stream.js'
import { withDatabase } from '../support/store/database.js'
import { checkRollups, startStreamingLoader } from '../support/store/loading.js'
import { feed } from '../support/store/stream.js'
import {
  LARGE_SIZES,
  newProject,
  NOW,
  runQuery,
  type PartialRequest,
} from '../support/world/world.js'
import { until } from '../support/until.js'

const database = withDatabase()

const ROUNDS = 6
const DAY = '2026-01-31'

/** The nth inserts: new paths by new and known users, and an earlier event, which moves a session to another source. */
const events = (n: number): object[] => [
  ...Array.from({ length: 30 }, (_, i) => ({
    timestamp: `${DAY}T10:${String(n % 60).padStart(2, '0')}:${String(i).padStart(2, '0')}Z`,
    user_id: `u${(n * 30 + i) % 100}`,
    path: i % 3 === 0 ? '/' : `/new-${n}-${i}`,
    utm_source: `s${n % 3}`,
  })),
  {
    timestamp: `${DAY}T09:${String(59 - n).padStart(2, '0')}:00Z`,
    user_id: `u${n}`,
    path: '/',
    utm_source: `early-${n}`,
  },
]

const date_range: PartialRequest['date_range'] = [DAY, DAY]
const ANY_BROWSER = { type: 'browser', operator: 'noneOf', value: ['Opera'] } as const
const ASKED: readonly PartialRequest[] = [
  { date_range, group_by: ['page:path'], limit: 1_000 },
  { date_range, group_by: ['page:path'], order_by: [['users', 'desc']] },
  { date_range, group_by: ['utm_source'] },
  // Two session attributes: answered from sessions.
  { date_range: ['2026-01-20', '2026-02-02'], group_by: ['utm_source'], filters: [ANY_BROWSER] },
]
/** Events are only added, so its answers only grow: a session counts in its former state or in its new one. */
const TOTAL: PartialRequest = {
  date_range: ['2026-01-20', '2026-02-02'],
  filters: [ANY_BROWSER, { type: 'os', operator: 'noneOf', value: ['Amiga'] }],
}

const isContradiction = ({
  users,
  pageviews,
  events,
}: AnalyticsQueryResponse['data'][number]['metrics']): boolean =>
  Number(users) < 1 || Number(users) > Number(pageviews) + Number(events)

test('a group has at least one user, and at most as many as events', async () => {
  const { store } = database
  const project = await newProject(store)
  const loader = startStreamingLoader({
    store,
    logger: pino({ level: 'silent' }),
    intervals: { loadMs: 10, pollMs: 10 },
  })
  const state = { isOn: true }
  const contradictions: unknown[] = []
  let answers = 0
  const totals: (readonly number[])[] = []
  const asking = (async () => {
    while (state.isOn) {
      const { data } = await runQuery(store, project, TOTAL, NOW, LARGE_SIZES)
      totals.push(data.map(({ metrics }) => [metrics.users, metrics.pageviews].map(Number)).flat())
      for (const asked of ASKED) {
        const { data } = await runQuery(store, project, asked, NOW, LARGE_SIZES)
        answers += 1
        contradictions.push(...data.filter(({ metrics }) => isContradiction(metrics)))
      }
    }
  })()
  for (let n = 0; n < ROUNDS; n += 1) {
    await feed(store, project.id, events(n))
    await until(async () => (await countWaitingRows(store.lookups)).rows === 0)
  }
  state.isOn = false
  await asking
  await loader.stop()
  expect({ answers, contradictions }).toEqual({ answers: expect.any(Number), contradictions: [] })
  for (const metric of [0, 1]) {
    const values = totals.map((total) => total[metric]!)
    expect(values).toEqual(values.toSorted((one, other) => one - other))
  }
  expect(await checkRollups(store.writer, {})).toMatchObject({ different: 0 })
})
