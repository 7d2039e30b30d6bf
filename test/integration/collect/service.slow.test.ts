/** The collector with a real store: from a token to the rows of the inbox. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import http from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { connectStore, type Store } from '../../../src/clickhouse/store.js'
import { sql, statement, string, type Statement } from '../../../src/clickhouse/sql.js'
import type { StoredProject } from '../../../src/projects/project.js'
import type { RunningService } from '../../../src/bootstrap/serving/start-service.js'
import { createDatabase, type TestDatabase } from '../../support/store/database.js'
import { startTestService } from '../../support/world/service.js'
import { newProject } from '../../support/world/world.js'
import { outcome } from '../http/harness.js'

const NOW = new Date('2026-03-10T12:00:00.123Z')

let database: TestDatabase
let project: StoredProject
let service: RunningService
beforeAll(async () => {
  database = await createDatabase()
  project = await newProject(database.store)
  service = await start(database.store)
})
afterAll(async () => {
  await service.stop()
  await database.drop()
})

const start = (store: Store, env: NodeJS.ProcessEnv = {}): Promise<RunningService> =>
  startTestService({ store, now: () => NOW, env: { ROLE: 'collector', ...env } })

const send = (body: unknown, { token } = project, { address } = service): Promise<Response> =>
  fetch(`${address}/v1/events`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  })

const inbox = async ({ id } = project): Promise<readonly object[]> =>
  (
    await database.store.writer.query<object>(
      statement(sql`
        SELECT batch, replaceRegexpOne(line, ',"event_id":"[^"]+"', '') AS line, toString(received_at) AS at FROM inbox
        WHERE project = ${string(id)} ORDER BY line`),
    )
  ).rows

test('accepted events are in the inbox when the response is sent', async () => {
  const response = await send([
    { name: 'a', user_id: 'u' },
    { name: 'b', user_id: 'u' },
  ])
  expect([response.status, await response.json()]).toEqual([202, { accepted: 2 }])
  const at = '2026-03-10 12:00:00.123'
  expect(await inbox()).toEqual([
    { batch: '', line: '{"name":"a","user_id":"u"}', at },
    { batch: '', line: '{"name":"b","user_id":"u"}', at },
  ])
})

test('a start writes nothing', async () => {
  const { rows } = await database.store.writer.query(
    statement(sql`SELECT line FROM inbox WHERE project != ${string(project.id)}`),
  )
  expect(rows).toEqual([])
})

test('UNAUTHORIZED: an unknown token, an API key, or any other text', async () => {
  for (const token of [
    'tallypub_x7k2m9q4c1v8b5n3z6t0w2r4',
    project.id,
    'a.b.c',
    `${project.token}x`,
  ]) {
    const response = await send({}, { ...project, token })
    expect(await outcome(response)).toEqual({ status: 401, code: 'UNAUTHORIZED' })
  }
})

test('a project that is created after the start can send at once', async () => {
  const known = await newProject(database.store)
  expect((await send({}, known)).status).toBe(202)
  expect((await inbox(known)).length).toBe(1)
})

/** Waits until the servers of this process have received this number of requests, and handle them. */
async function receive(requests: number): Promise<void> {
  let received = 0
  await new Promise<void>((resolve) => {
    const count = (): void => {
      received += 1
      if (received < requests) return
      unsubscribe('http.server.request.start', count)
      resolve()
    }
    subscribe('http.server.request.start', count)
  })
  await setImmediate()
}

test('many requests with one token query the store once', async () => {
  const store = connectStore(database.endpoint)
  let asked = 0
  const query = store.tokenLookups.query.bind(store.tokenLookups)
  const received = receive(50)
  Object.assign(store.tokenLookups, {
    query: async (asks: Statement) => {
      asked += 1
      await received
      return query(asks)
    },
  })
  const fresh = await start(store)
  const sent = Array.from({ length: 50 }, () => send({}, project, fresh))
  const statuses = (await Promise.all(sent)).map(({ status }) => status)
  expect({ asked, statuses }).toEqual({ asked: 1, statuses: statuses.map(() => 202) })
  await fresh.stop()
  await store.close()
})

test('SERVICE_UNAVAILABLE: without the store neither tokens nor events are accepted', async () => {
  const store = connectStore(database.endpoint)
  const lonely = await start(store)
  const nowhere = connectStore({ ...database.endpoint, url: 'http://127.0.0.1:1' })
  expect((await send({}, project, lonely)).status).toBe(202)
  Object.assign(store.writer, nowhere.writer)
  Object.assign(store.tokenLookups, nowhere.tokenLookups)
  const known = await send({}, project, lonely)
  const unknown = await send({}, { ...project, token: 'tallypub_unknown' }, lonely)
  for (const response of [known, unknown]) {
    expect(response.headers.get('retry-after')).toBe('1')
    expect(await outcome(response)).toEqual({ status: 503, code: 'SERVICE_UNAVAILABLE' })
  }
  await lonely.stop()
  await Promise.all([store.close(), nowhere.close()])
})

/** Sends the headers of a request, and waits until the service has read them. Returns a function that sends the event. */
async function begin(
  { token }: StoredProject,
  { address }: RunningService,
): Promise<() => Promise<number | undefined>> {
  const request = http.request(`${address}/v1/events`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Authorization: `Bearer ${token}`,
      Expect: '100-continue',
    },
    agent: false,
  })
  const response = once(request, 'response') as Promise<[http.IncomingMessage]>
  request.flushHeaders()
  await once(request, 'continue')
  return async () => {
    request.end('{}')
    const [{ statusCode }] = await response
    return statusCode
  }
}

test('a stop writes and acknowledges the events that were sent before it', async () => {
  const ends = await newProject(database.store)
  const stopping = await start(database.store)
  await send({}, ends, stopping)
  const begun = await Promise.all(Array.from({ length: 20 }, () => begin(ends, stopping)))
  const stopped = stopping.stop()
  const statuses = await Promise.all(begun.map((finish) => finish()))
  await stopped
  expect(statuses).toEqual(statuses.map(() => 202))
  expect(await inbox(ends)).toHaveLength(21)
})

test.each([
  ['all', '/v1/events', '/v1/project'],
  ['api', '/v1/project', '/v1/events'],
  ['collector', '/v1/events', '/v1/project'],
])('ROLE=%s', async (role, has, other) => {
  const one = await start(database.store, { ROLE: role, DATA_DIR: '/nonexistent' })
  const status = async (path: string) => {
    const method = path === '/v1/events' ? 'POST' : 'GET'
    return (await fetch(one.address + path, { method })).status
  }
  expect(await status(has)).not.toBe(404)
  expect(await status(other)).toBe(role === 'all' ? 401 : 404)
  await one.stop()
})
