/** The clock of the host jumps while the service runs: periods follow it, and API keys are valid when they should be. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { issueKey } from '../../../src/auth/api-keys.js'
import type { RunningService } from '../../../src/bootstrap/serving/start-service.js'
import type { AnalyticsQueryResponse, DateRange } from '../../../src/contract/api.js'
import { HOUR_MS } from '../../../src/lib/time.js'
import { createDatabase, type TestDatabase } from '../../support/store/database.js'
import { createKeys, type TestKeys } from '../../support/world/keys.js'
import { startTestService } from '../../support/world/service.js'
import { createWorld } from '../../support/world/world.js'

const SINCE = new Date('2026-03-27T00:00:00Z')

let now = SINCE
let database: TestDatabase
let keys: TestKeys
let service: RunningService
let projectId: string
beforeAll(async () => {
  database = await createDatabase()
  keys = await createKeys(database.store)
  const everyHour = Array.from({ length: 5 * 24 }, (_, hour) => ({
    timestamp: new Date(SINCE.getTime() + hour * HOUR_MS).toISOString(),
  }))
  projectId = (await createWorld(database.store, everyHour)).id
  service = await startTestService({ store: database.store, now: () => now })
})
afterAll(async () => {
  await service.stop()
  await database.drop()
  await keys.remove()
})

const ask = (token: string, date_range: DateRange): Promise<Response> =>
  fetch(`${service.address}/v1/analytics/query`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ date_range, metrics: ['pageviews'] }),
  })

async function askPeriod(token: string, range: DateRange): Promise<readonly unknown[]> {
  const { period, data } = (await (await ask(token, range)).json()) as AnalyticsQueryResponse
  return [period.from, period.to, data[0]?.metrics.pageviews]
}

/** The time after a jump, and for each preset the first second, the last one, and the events between. */
type Row = readonly [string, Readonly<Partial<Record<Extract<DateRange, string>, unknown[]>>>]

/** In the order of the jumps. Clocks of Berlin skip the hour from 01:00 UTC on 2026-03-29; those of New York on 2026-03-08. */
const JUMPS: readonly Row[] = [
  ['2026-03-29T00:30:00Z', { today: ['2026-03-29T00:00:00Z', '2026-03-29T00:30:00Z', 1] }],
  [
    '2026-03-29T01:30:00Z',
    {
      today: ['2026-03-29T00:00:00Z', '2026-03-29T01:30:00Z', 2],
      yesterday: ['2026-03-28T00:00:00Z', '2026-03-28T23:59:59Z', 24],
    },
  ],
  ['2026-03-28T23:30:00Z', { today: ['2026-03-28T00:00:00Z', '2026-03-28T23:30:00Z', 24] }],
  [
    '2026-03-30T23:59:59Z',
    {
      today: ['2026-03-30T00:00:00Z', '2026-03-30T23:59:59Z', 24],
      yesterday: ['2026-03-29T00:00:00Z', '2026-03-29T23:59:59Z', 24],
      '7days': ['2026-03-24T00:00:00Z', '2026-03-30T23:59:59Z', 96],
    },
  ],
  ['2026-03-29T22:30:00Z', { yesterday: ['2026-03-28T00:00:00Z', '2026-03-28T23:59:59Z', 24] }],
  [
    '2028-02-29T12:00:00Z',
    {
      mtd: ['2028-02-01T00:00:00Z', '2028-02-29T12:00:00Z', 0],
      '12months': ['2027-03-01T00:00:00Z', '2028-02-29T12:00:00Z', 0],
    },
  ],
  ['2028-03-01T12:00:00Z', { yesterday: ['2028-02-29T00:00:00Z', '2028-02-29T23:59:59Z', 0] }],
  ['2026-12-31T23:59:59Z', { ytd: ['2026-01-01T00:00:00Z', '2026-12-31T23:59:59Z', 120] }],
  [
    '2027-01-01T00:00:00Z',
    {
      ytd: ['2027-01-01T00:00:00Z', '2027-01-01T00:00:00Z', 0],
      yesterday: ['2026-12-31T00:00:00Z', '2026-12-31T23:59:59Z', 0],
      all: ['2026-03-27T00:00:00Z', '2027-01-01T00:00:00Z', 120],
    },
  ],
  [
    '2026-03-27T00:00:00Z',
    {
      today: ['2026-03-27T00:00:00Z', '2026-03-27T00:00:00Z', 1],
      '30days': ['2026-02-26T00:00:00Z', '2026-03-27T00:00:00Z', 1],
    },
  ],
]

test('each period is that of the time at which it is asked for', async () => {
  const token = await keys.issue(projectId, SINCE)
  const answers: Row[] = []
  for (const [time, wanted] of JUMPS) {
    now = new Date(time)
    const presets = Object.keys(wanted) as Extract<DateRange, string>[]
    const periods = await Promise.all(
      presets.map(async (preset) => [preset, await askPeriod(token, preset)] as const),
    )
    answers.push([time, Object.fromEntries(periods)])
  }
  expect(answers).toEqual(JUMPS)
})

const ISSUED = new Date('2026-03-29T00:30:00Z')

test.each<[string, number, number]>([
  ['not', 0, 200],
  ['an hour ahead', 1, 200],
  ['to just before the key expires', 2 - 1 / 3_600, 200],
  ['to the expiry of the key', 2, 401],
  ['a day ahead', 24, 401],
  ['less than a minute back: clocks differ', -59 / 3_600, 200],
  ['an hour back: the key is issued later', -1, 401],
  ['a day back', -24, 401],
])(
  'an API key that is valid for two hours, when the clock jumps %s',
  async (_how, hours, status) => {
    const expiresAt = new Date(ISSUED.getTime() + 2 * HOUR_MS)
    const { token } = await issueKey(
      database.store,
      keys.signingKey,
      { projectId, name: '', expiresAt },
      ISSUED,
    )
    now = new Date(ISSUED.getTime() + hours * HOUR_MS)
    expect((await ask(token, 'today')).status).toBe(status)
  },
)
