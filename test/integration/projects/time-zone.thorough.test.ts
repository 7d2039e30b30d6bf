/** The time zone of a project, over HTTP: every way of asking without a zone gets the response to the same request with it. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { RunningService } from '../../../src/bootstrap/serving/start-service.js'
import { updateProject } from '../../../src/projects/store.js'
import { withDatabase } from '../../support/store/database.js'
import { until } from '../../support/until.js'
import { createKeys, type TestKeys } from '../../support/world/keys.js'
import { startTestService } from '../../support/world/service.js'
import { createWorld, type SentEvent } from '../../support/world/world.js'
import { call, connectHttp } from '../tools/mcp-clients.js'

const NOW = new Date('2026-03-29T20:00:00Z')
/** Where it is the next day already. */
const ZONE = 'Asia/Kathmandu'

/** Visits of 20 users, one every five hours for three weeks. */
const EVENTS = Array.from({ length: 100 }, (_, n): SentEvent => {
  const timestamp = new Date(NOW.getTime() - 1_000 - n * 5 * 3_600_000).toISOString()
  const user_id = `u${n % 20}`
  const name = n % 3 === 0 ? 'signup' : 'pageview'
  return { timestamp, user_id, name, path: `/${n % 4}`, country: n % 2 === 0 ? 'DE' : 'NP' }
})

const database = withDatabase()
let keys: TestKeys
let service: RunningService
let key: string

beforeAll(async () => {
  keys = await createKeys(database.store)
  await createWorld(database.store, EVENTS, { id: 'shop', hasPublicDashboard: true })
  key = await keys.issue('shop', NOW, ['read', 'export'])
  const env = { DATA_DIR: keys.dataDir, RATE_LIMIT_PER_MINUTE: '0' }
  service = await startTestService({ store: database.store, now: () => NOW, env })
})
afterAll(async () => {
  await service.stop()
  await keys.remove()
})

/** Sends a body. Returns what the client gets, and how the response came about. */
async function post(target: string, body: unknown, accept: string) {
  const send = (): Promise<Response> =>
    fetch(service.address + target, {
      method: 'POST',
      headers: {
        ...{ 'Content-Type': 'application/json', Accept: accept },
        Authorization: `Bearer ${key}`,
      },
      body: JSON.stringify(body),
    })
  let response = await send()
  // On a busy machine, the store may not say in time what is public.
  while (response.status === 503) response = await send()
  const { status, headers } = response
  const names = ['tally-period', 'tally-total', 'etag']
  // A plan also depends on the sizes of the project, which the service learns later.
  const text = (await response.text()).replace(/,"plan":.*/s, '')
  const got = [status, text, ...names.map((name) => headers.get(name))]
  return { got, cache: headers.get('tally-cache') }
}

const STEPS = [
  { filters: [{ field: 'country', operator: 'is', value: ['DE'] }] },
  { filters: [{ field: 'event:name', operator: 'is', value: ['signup'] }] },
]
const DAYS = { date_range: ['2026-03-20', '2026-03-28'] }
const SERIES = { date_range: '7days', group_by: ['interval:day'], compare: 'previous_period' }

/** Ways of asking: a path, a body for a zone or for none, and what is accepted. */
const WAYS: readonly (readonly [string, (zoned: object) => object, string?])[] = [
  ['/v1/analytics/query', (zoned) => ({ date_range: 'today', ...zoned })],
  ['/v1/analytics/query', (zoned) => ({ ...SERIES, ...zoned })],
  ['/v1/analytics/query', (zoned) => ({ ...SERIES, limit: 'all', ...zoned }), 'text/csv'],
  // A period of this zone alone, and a bad field: the rules know the zone.
  [
    '/v1/analytics/query',
    (zoned) => ({ date_range: ['2026-03-29', '2026-03-28T18:30:00Z'], ...zoned }),
  ],
  ['/v1/analytics/query', (zoned) => ({ ...DAYS, metrics: ['nothing'], ...zoned })],
  ['/v1/analytics/explain', (zoned) => ({ ...SERIES, ...zoned })],
  ['/v1/analytics/values', (zoned) => ({ ...DAYS, field: 'country', ...zoned })],
  ['/v1/analytics/funnel', (zoned) => ({ ...DAYS, steps: STEPS, ...zoned })],
  ['/v1/analytics/funnel/explain', (zoned) => ({ ...DAYS, steps: STEPS, ...zoned })],
  ['/v1/events/export', (zoned) => ({ ...DAYS, ...zoned }), 'application/x-ndjson'],
  [
    '/v1/analytics/batch',
    (zoned) => ({
      queries: [
        { id: 'a', body: { ...SERIES, ...zoned } },
        { id: 'b', operation: 'values', body: { ...DAYS, field: 'page:path', ...zoned } },
        { id: 'c', operation: 'retention', body: { interval: 'day', ...DAYS } },
        { id: 'd', operation: 'funnel', body: { ...DAYS, steps: STEPS, ...zoned } },
      ],
    }),
  ],
  ['/v1/analytics/retention', () => ({ ...DAYS, interval: 'day' })],
  ['/share/shop/v1/analytics/query', (zoned) => ({ ...SERIES, ...zoned })],
  ['/share/shop/v1/analytics/values', (zoned) => ({ ...DAYS, field: 'country', ...zoned })],
]

/** Asks in all ways, one after another. */
async function askAll(zoned: object) {
  const asked = []
  for (const [target, build, accept = 'application/json'] of WAYS) {
    asked.push({ target, ...(await post(target, build(zoned), accept)) })
  }
  return asked
}
const bodiesOf = (asked: Awaited<ReturnType<typeof askAll>>): unknown =>
  asked.map(({ target, got }) => [target, ...got])

async function readProject(): Promise<Readonly<Record<string, unknown>>> {
  const headers = { Authorization: `Bearer ${key}` }
  const response = await fetch(`${service.address}/v1/project`, { headers })
  const { project } = (await response.json()) as { project: Readonly<Record<string, unknown>> }
  return project
}

/** Gives the project a zone, and waits until the service knows it: for the key, and for viewers. */
async function setZone(timeZone: string | null): Promise<void> {
  await updateProject(database.store, 'shop', { timeZone })
  await until(async () => {
    const page = await fetch(`${service.address}/share/shop`)
    const written = (await page.text()).includes(`data-zone="${timeZone ?? ''}"`)
    return written && (await readProject())['timeZone'] === (timeZone ?? undefined)
  })
}

const askTool = async (args: object) => {
  const client = await connectHttp(service.address, key)
  const called = await call(client, 'query', args)
  await client.close()
  return called
}

test('a change of the zone counts for what is asked next, however it is asked', async () => {
  const [inUtc, inZone] = [await askAll({}), await askAll({ time_zone: ZONE })]
  const tool = await askTool({ ...SERIES, time_zone: ZONE })
  const own = await readProject()
  expect(own).not.toHaveProperty('timeZone')
  expect((await askAll({})).map(({ cache }) => cache)).toContain('hit')
  expect(bodiesOf(inZone)).not.toEqual(bodiesOf(inUtc))

  await setZone(ZONE)
  expect(await readProject()).toEqual({ ...own, timeZone: ZONE })
  expect(bodiesOf(await askAll({}))).toEqual(bodiesOf(inZone))
  expect(bodiesOf(await askAll({ time_zone: ZONE }))).toEqual(bodiesOf(inZone))
  expect(await askTool(SERIES)).toEqual(tool)
  const { got } = await post('/v1/analytics/query', { ...SERIES, time_zone: 'UTC' }, '*/*')
  const [, plain] = inUtc
  const { query: asked, ...response } = JSON.parse(String(got[1])) as { query: object }
  const { query: plainly, ...want } = JSON.parse(String(plain?.got[1])) as { query: object }
  expect([asked, response]).toEqual([{ ...plainly, time_zone: 'UTC' }, want])

  await setZone(null)
  expect(bodiesOf(await askAll({}))).toEqual(bodiesOf(inUtc))
})
