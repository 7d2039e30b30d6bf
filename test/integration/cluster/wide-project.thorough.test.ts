/** A project across two shards, asked over HTTP: its data is that of both, and answers are kept until either changes. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { RunningService } from '../../../src/bootstrap/serving/start-service.js'
import { chooseShard } from '../../../src/cluster/choose-shard.js'
import { createProject } from '../../../src/projects/store.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { placeOn } from '../../support/cluster/senders.js'
import { startCluster, type TestCluster } from '../../support/cluster/cluster.js'
import { newWideProject, sendToShards } from '../../support/cluster/wide-world.js'
import { createKeys, type TestKeys } from '../../support/world/keys.js'
import { startTestService } from '../../support/world/service.js'
import { NOW } from '../../support/world/world.js'

let cluster: TestCluster
let keys: TestKeys
let service: RunningService

beforeAll(async () => {
  cluster = await startCluster(2)
  const { store } = cluster.home
  keys = await createKeys(store)
  service = await startTestService({ store, cluster, now: () => NOW })
})
afterAll(async () => {
  await service.stop()
  await keys.remove()
  await cluster.stop()
})

/** Names a user whose events lie on a shard, by its position. */
const nameUser = (shard: number, from = 0): string =>
  [...Array(100).keys()]
    .map((i) => `user-${from + i}`)
    .find((user_id) => chooseShard({ user_id }, placeOn(2), NOW) === shard)!

const sendFrom = (project: StoredProject, user_id: string, timestamp: string): Promise<void> =>
  sendToShards(cluster, [project], [{ project: project.id, user_id, timestamp, path: '/' }])

async function call(key: string, path: string, body?: object) {
  const response = await fetch(`${service.address}${path}`, {
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  })
  const source = response.headers.get('tally-cache')
  return { status: response.status, source, body: (await response.json()) as Body }
}
interface Body {
  readonly period?: { readonly from: string }
  readonly project?: { readonly firstEventAt: string }
  readonly data?: readonly { readonly metrics: object }[]
}

const ALL = { date_range: 'all', metrics: ['users', 'pageviews'] }
const ask = (key: string, body: object = ALL) => call(key, '/v1/analytics/query', body)

/** Asks until the answer is one that was given before: on a busy machine the store may say too late that nothing changed. */
async function askUntilKnown(key: string) {
  for (;;) {
    const answer = await ask(key)
    if (answer.source === 'hit') return answer
  }
}

test('its first event and its numbers are those of both shards, and so is what changes an answer', async () => {
  const project = await newWideProject(cluster, cluster.shards)
  const key = await keys.issue(project.id, NOW)
  await sendFrom(project, nameUser(0), '2026-03-05T10:00:00Z')
  await sendFrom(project, nameUser(1), '2026-02-03T10:00:00Z')
  const expectNumbers = async (users: number, pageviews: number): Promise<void> => {
    const expected = { data: [{ group: {}, metrics: { users, pageviews } }] }
    expect(await ask(key)).toMatchObject({ status: 200, body: expected })
    expect(await askUntilKnown(key)).toMatchObject({ status: 200, body: expected })
  }
  await expectNumbers(2, 2)
  const { body } = await ask(key)
  expect(body.period?.from).toBe('2026-02-03T00:00:00Z')
  expect((await call(key, '/v1/project')).body.project?.firstEventAt).toBe(
    '2026-02-03T10:00:00.000Z',
  )
  await sendFrom(project, nameUser(1, 100), '2026-03-06T10:00:00Z')
  await expectNumbers(3, 3)
  await sendFrom(project, nameUser(0), '2026-01-06T10:00:00Z')
  await expectNumbers(3, 4)
  expect((await ask(key)).body.period?.from).toBe('2026-01-06T00:00:00Z')
})

test('a project on the second shard alone is asked there', async () => {
  const project = await newWideProject(cluster, cluster.shards.slice(1))
  const key = await keys.issue(project.id, NOW)
  await sendFrom(project, 'someone', '2026-03-05T10:00:00Z')
  expect((await ask(key)).body.data).toEqual([{ group: {}, metrics: { users: 1, pageviews: 1 } }])
})

test('a project without events has a row of zeros, and every bucket', async () => {
  const project = await newWideProject(cluster, cluster.shards)
  const key = await keys.issue(project.id, NOW)
  expect(await ask(key)).toMatchObject({
    status: 200,
    body: { data: [{ group: {}, metrics: { users: 0, pageviews: 0 } }] },
  })
  const days = await ask(key, { date_range: '7days', group_by: ['interval:auto'] })
  expect(days.body.data?.length).toBeGreaterThanOrEqual(7)
})

test('values of any form reach both shards, also the most that a request may hold', async () => {
  const project = await newWideProject(cluster, cluster.shards)
  const key = await keys.issue(project.id, NOW)
  const path = `/'\\"\`\n\t\u0001${'😀'.repeat(3)}{p0:String}`
  const events = [nameUser(0), nameUser(1)].map((user_id) => ({
    ...{ project: project.id, user_id, timestamp: '2026-03-05T10:00:00Z' },
    path: '/',
    properties: { [path]: path },
  }))
  await sendToShards(cluster, [project], events)
  const odd = { property: path, value: path, operator: 'eq' }
  const own = { type: 'event', properties: [odd] }
  const body = { date_range: 'all', metrics: ['pageviews'], filters: [own] }
  expect((await ask(key, body)).body.data).toEqual([{ group: {}, metrics: { pageviews: 2 } }])
  const many = Array.from({ length: 38 }, () => "\\'".repeat(512))
  const metrics = ['pageviews', 'users', 'events', 'bounce_rate']
  const large = {
    ...body,
    metrics,
    filters: [own, { type: 'browser', value: many, operator: 'noneOf' }],
  }
  expect((await ask(key, large)).body).toMatchObject({
    data: [{ group: {}, metrics: { pageviews: 2 } }],
  })
})

test('a project on shards that this service does not know cannot be asked', async () => {
  const fields = { id: 'elsewhere', name: 'Test', domain: 'example.com' }
  const project = await createProject(cluster.home.store, fields, NOW, ['shard7'])
  const key = await keys.issue(project.id, NOW)
  expect(await ask(key)).toMatchObject({
    status: 503,
    body: { error: { code: 'SERVICE_UNAVAILABLE' } },
  })
})
