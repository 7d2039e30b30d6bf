/** Goals and segments over HTTP: how they are defined, and what queries that name them answer. */
import { beforeAll, expect, test } from '@jest/globals'
import { requireProject } from '../../../src/projects/store.js'
import { send as sendEvents } from '../../support/world/world.js'
import { until } from '../../support/until.js'
import { withManagement, type Sent } from './management.js'

const service = withManagement()
const { send } = service

const PROJECT = '/v1/projects/shop'
const PURCHASES = [
  { field: 'event:name', operator: 'is', value: ['purchase'], case_sensitive: true },
]
const GERMANY = [{ field: 'country', operator: 'is', value: ['DE'], case_sensitive: true }]
let key: string

const event = (user_id: string, country: string, name: string, amount?: number) => ({
  timestamp: '2026-03-09T10:00:00Z',
  ...{ user_id, country, name, url: 'https://shop.example/' },
  ...(amount === undefined ? {} : { properties: { amount, currency: 'EUR' } }),
})

beforeAll(async () => {
  await send('PUT', PROJECT, { body: { name: 'Shop', domain: 'shop.example' } })
  const project = await requireProject(service.store.reader, 'shop')
  await sendEvents(service.store, project, [
    event('a', 'DE', 'purchase', 0.1),
    { ...event('a', 'DE', 'purchase', 0.2), timestamp: '2026-03-09T10:05:00Z' },
    event('b', 'DE', 'visit'),
    event('c', 'DE', 'visit'),
    event('d', 'FR', 'purchase', 5),
    event('e', 'FR', 'signup'),
  ])
  const { body } = await send('POST', `${PROJECT}/keys`, { body: {} })
  key = (body as { secret: string }).secret
})

const put = (kind: string, name: string, body: object, headers = {}): Promise<Sent> =>
  send('PUT', `${PROJECT}/${kind}s/${name}`, { body, headers })
const ask = (body: object, path = 'query', headers = {}): Promise<Sent> =>
  send('POST', `/v1/analytics/${path}`, {
    key,
    body: { date_range: ['2026-03-01', '2026-03-31'], ...body },
    headers,
  })
const detailsOf = ({ status, body }: Sent) => {
  const { error } = body as { error: { details?: { field: string; message: string }[] } }
  return [status, ...(error.details ?? []).map(({ field, message }) => `${field} ${message}`)]
}
const rowsOf = ({ body }: Sent) =>
  (body as { data: Record<'group' | 'metrics', Record<string, unknown>>[] }).data.map(
    ({ group, metrics }) => [...Object.values(group), ...Object.values(metrics)],
  )

const metricsOf = (goal: string) =>
  (['conversions', 'converted_users', 'converted_visits', 'conversion_rate', 'value'] as const).map(
    (metric) => ({ metric, goal, as: metric }),
  )

test('a goal is defined, counted, changed for all time at once, and deleted', async () => {
  const defined = await put('goal', 'purchase', {
    filters: PURCHASES,
    value: 'event:prop:amount',
  })
  expect([defined.status, defined.headers.get('location')]).toEqual([
    201,
    `${PROJECT}/goals/purchase`,
  ])
  const goal = { name: 'purchase', filters: PURCHASES, value: 'event:prop:amount' }
  expect(defined.body).toEqual(goal)
  const again = await put('goal', 'purchase', { filters: PURCHASES, value: 'event:prop:amount' })
  expect([again.status, again.headers.get('etag')]).toEqual([200, defined.headers.get('etag')])
  // The key of the project reads it, and does not change it.
  expect((await send('GET', `${PROJECT}/goals`, { key })).body).toEqual({ goals: [goal] })
  expect((await send('GET', `${PROJECT}/goals/purchase`, { key })).body).toEqual(goal)
  expect((await send('DELETE', `${PROJECT}/goals/purchase`, { key })).status).toBe(401)

  const asked = { metrics: metricsOf('purchase'), group_by: ['country'] }
  const first = await ask(asked)
  expect(rowsOf(first)).toEqual([
    ['DE', 2, 1, 1, 33.33, 0.3],
    ['FR', 1, 1, 1, 50, 5],
  ])
  expect(first.body).toMatchObject({
    query: { metrics: asked.metrics.map((one) => ({ ...one, filters: PURCHASES })) },
    metadata: { numbers: [{ of: 'event:prop:amount', goal: 'purchase', counted: 3, left_out: 0 }] },
  })
  const csv = await ask(asked, 'query', { Accept: 'text/csv' })
  expect(csv.text.split('\r\n').slice(0, 2)).toEqual([
    'country,conversions,converted_users,converted_visits,conversion_rate,value',
    'DE,2,1,1,33.33,0.3',
  ])
  // The response is kept. On a busy machine the store may say too late that nothing changed.
  await until(async () => (await ask(asked)).headers.get('tally-cache') === 'hit')

  const tag = defined.headers.get('etag') ?? ''
  const signups = {
    filters: [{ field: 'event:name', operator: 'is', value: ['signup'] }],
    value: 'event:prop:amount',
  }
  const stale = await put('goal', 'purchase', signups, { 'If-Match': '"x"' })
  expect([stale.status, stale.headers.get('etag')]).toEqual([412, tag])
  expect((await put('goal', 'purchase', signups, { 'If-None-Match': '*' })).status).toBe(412)
  expect((await put('goal', 'purchase', signups, { 'If-Match': tag })).status).toBe(200)
  expect(rowsOf(await ask({ ...asked, order_by: [['conversion_rate', 'desc']] }))).toEqual([
    ['FR', 1, 1, 1, 50, 0],
    ['DE', 0, 0, 0, 0, 0],
  ])

  expect((await send('DELETE', `${PROJECT}/goals/purchase`)).status).toBe(204)
  expect((await send('DELETE', `${PROJECT}/goals/purchase`)).status).toBe(404)
  expect(detailsOf(await ask({ metrics: metricsOf('purchase').slice(0, 1) }))).toEqual([
    400,
    'metrics.0.goal must be the name of a goal, and the project has none',
  ])
  const log = await send('GET', '/v1/audit-log?project=shop')
  const { changes } = log.body as { changes: { action: string; target: string }[] }
  expect(changes.filter(({ target }) => target === 'purchase').map(({ action }) => action)).toEqual(
    ['goal.delete', 'goal.update', 'goal.create'],
  )
})

test('a segment is a filter wherever filters are allowed', async () => {
  await put('segment', 'german', { filters: GERMANY })
  await put('segment', 'buyers', {
    filters: [
      { type: 'segment', value: 'german' },
      { type: 'visit', filters: PURCHASES },
    ],
  })
  const named = (value: string) => ({ type: 'segment', value })
  const not = { type: 'group', operator: 'not', filters: [named('german')] }
  const users = { metrics: ['users'] }
  expect(rowsOf(await ask({ ...users, filters: [named('german')] }))).toEqual([[3]])
  expect(rowsOf(await ask({ ...users, filters: [named('buyers')] }))).toEqual([[1]])
  expect(rowsOf(await ask({ ...users, filters: [not] }))).toEqual([[2]])
  const echoed = await ask({ ...users, filters: [named('buyers')] })
  expect(echoed.body).toMatchObject({
    query: {
      filters: [
        {
          ...named('buyers'),
          filters: [
            { ...named('german'), filters: GERMANY },
            { type: 'visit', filters: PURCHASES },
          ],
        },
      ],
    },
  })
  const funnel = await ask(
    { steps: [{ filters: [named('german')] }, { filters: PURCHASES }], within: 'visit' },
    'funnel',
  )
  expect((funnel.body as { data: { users: number }[] }).data.map((step) => step.users)).toEqual([
    3, 1,
  ])
  const journeys = await ask({ from: { filters: [named('german')] } }, 'journeys')
  expect(journeys.status).toBe(200)
  const explained = await ask({ ...users, filters: [named('german')] }, 'explain')
  expect(JSON.stringify(explained.body)).toContain('country')
  const batch = await send('POST', '/v1/analytics/batch', {
    key,
    body: {
      queries: [
        {
          id: 'one',
          operation: 'query',
          body: { date_range: '7days', ...users, filters: [named('german')] },
        },
        {
          id: 'two',
          operation: 'query',
          body: { date_range: '7days', ...users, filters: [named('x')] },
        },
      ],
    },
  })
  const { results } = batch.body as { results: { status: number }[] }
  expect(results.map(({ status }) => status)).toEqual([200, 400])

  // What was kept for the former definition is not given any more.
  await put('segment', 'german', {
    filters: [{ field: 'country', operator: 'is', value: ['FR'] }],
  })
  expect(rowsOf(await ask({ ...users, filters: [named('german')] }))).toEqual([[2]])

  const inUse = await send('DELETE', `${PROJECT}/segments/german`)
  expect([inUse.status, JSON.stringify(inUse.body)]).toEqual([
    409,
    expect.stringContaining('is used by the segment buyers'),
  ])
  expect(detailsOf(await ask({ ...users, filters: [named('no')] }))).toEqual([
    400,
    'filters.0.value must be the name of a segment of the project, one of: buyers, german',
  ])
  expect((await send('GET', `${PROJECT}/segments`)).body).toMatchObject({
    segments: [{ name: 'buyers' }, { name: 'german' }],
  })
})

test.each<[string, string, object, string]>([
  ['goal', 'g', { filters: [] }, 'filters must'],
  ['goal', 'g', { filters: [{ type: 'goal', value: 'g' }] }, 'filters.0.type must'],
  ['goal', 'g', { filters: [{ field: 'country', operator: 'is' }] }, 'filters.0.value is required'],
  ['goal', 'g', { filters: PURCHASES, value: 'amount' }, 'value '],
  ['segment', 's', { filters: PURCHASES, value: 'event:prop:amount' }, 'value is not a known'],
  [
    'segment',
    's',
    { filters: [{ type: 'segment', value: 'none' }] },
    'filters.0.value is not valid: must be the name',
  ],
  [
    'segment',
    's',
    { filters: [{ type: 'segment', value: 's' }] },
    'filters.0.value is not valid: must not name itself: s, which names s',
  ],
  [
    'segment',
    'one',
    { filters: [{ type: 'segment', value: 'two' }] },
    'filters.0.value is not valid: must not name itself: one, which names two, which names one',
  ],
])('%s %s with %j is refused: %s', async (kind, name, body, want) => {
  await put('segment', 'two', { filters: GERMANY })
  await put('segment', 'one', { filters: GERMANY })
  await put('segment', 'two', { filters: [{ type: 'segment', value: 'one' }] })
  const [status, detail] = detailsOf(await put(kind, name, body))
  expect([status, String(detail).slice(0, want.length)]).toEqual([400, want])
})

test('values need a goal with a value, and one currency', async () => {
  await put('goal', 'bought', { filters: PURCHASES })
  const value = { metric: 'value', goal: 'bought', as: 'worth' }
  expect(detailsOf(await ask({ metrics: [value] }))).toEqual([
    400,
    'metrics.0.goal must be a goal that has a value, and bought has none',
  ])
  await put('goal', 'bought', { filters: PURCHASES, value: 'event:prop:amount' })
  expect(rowsOf(await ask({ metrics: [value] }))).toEqual([[5.3]])
  const dollars = { ...event('u', 'US', 'purchase', 1), properties: { amount: 1, currency: 'USD' } }
  await sendEvents(service.store, await requireProject(service.store.reader, 'shop'), [dollars])
  const [status, detail] = detailsOf(await ask({ metrics: [value] }))
  expect([status, detail]).toEqual([
    400,
    expect.stringMatching(/^metrics\.0 has amounts in several currencies, such as EUR and USD/),
  ])
  expect(rowsOf(await ask({ metrics: [{ ...value, money: false }] }))).toEqual([[6.3]])
})

test('the key of a project reads its lists where management is elsewhere', async () => {
  const apart = await service.start({ MANAGEMENT_PORT: '0' })
  const read = async (path: string, secret?: string): Promise<unknown> => {
    const headers = secret === undefined ? {} : { Authorization: `Bearer ${secret}` }
    const response = await fetch(apart.address + path, { headers })
    return [response.status, response.status === 200 ? await response.json() : undefined]
  }
  const goals = await send('GET', `${PROJECT}/goals`, { key })
  expect(await read(`${PROJECT}/goals`, key)).toEqual([200, goals.body])
  expect(await read(`${PROJECT}/segments`, key)).toEqual([
    200,
    (await send('GET', `${PROJECT}/segments`, { key })).body,
  ])
  expect(await read(`${PROJECT}/notes`, key)).toEqual([200, { notes: [] }])
  expect(await read('/v1/projects/other/goals', key)).toEqual([404, undefined])
  expect(await read(`${PROJECT}/goals`, service.root)).toEqual([404, undefined])
  expect(await read(`${PROJECT}/goals`)).toEqual([404, undefined])
  expect(await read('/v1/projects', key)).toEqual([404, undefined])
  await apart.stop()
})

test('goals and segments go with their project', async () => {
  await send('PUT', '/v1/projects/brief', { body: { name: 'Brief', domain: 'brief.example' } })
  await send('PUT', '/v1/projects/brief/goals/g', { body: { filters: PURCHASES } })
  await send('DELETE', '/v1/projects/brief')
  await service.runOperations()
  await send('PUT', '/v1/projects/brief', { body: { name: 'Brief', domain: 'brief.example' } })
  expect((await send('GET', '/v1/projects/brief/goals')).body).toEqual({ goals: [] })
})
