/** Responses that are given again, over HTTP: headers, bytes, and that nobody gets those of another project. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { RunningService } from '../../../src/bootstrap/serving/start-service.js'
import { createInstruments } from '../../../src/telemetry/instruments.js'
import { createDatabase, type TestDatabase } from '../../support/store/database.js'
import { deleteUser } from '../../support/store/loading.js'
import { createKeys, type TestKeys } from '../../support/world/keys.js'
import { startTestService } from '../../support/world/service.js'
import { createWorld, newProject, NOW, send } from '../../support/world/world.js'

let database: TestDatabase
let keys: TestKeys
let service: RunningService
let uncached: RunningService
const instruments = createInstruments({ version: '1', countDroppedLines: () => 0 })

beforeAll(async () => {
  database = await createDatabase()
  const { store } = database
  keys = await createKeys(store)
  service = await startTestService({ store, now: () => NOW, instruments })
  uncached = await startTestService({ store, now: () => NOW, env: { CACHE_MB: '0' } })
})
afterAll(async () => {
  instruments.close()
  await service.stop()
  await uncached.stop()
  await keys.remove()
  await database.drop()
})

const event = (user_id: string) => ({ user_id, path: '/', timestamp: '2026-06-15T10:00:00Z' })
const TODAY = { date_range: 'today', metrics: ['users', 'pageviews'] }

const ask = (
  { address }: RunningService,
  key: string,
  body: object = TODAY,
  headers: Record<string, string> = {},
  path = 'query',
): Promise<Response> =>
  fetch(`${address}/v1/analytics/${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

const read = async (response: Response) => ({
  status: response.status,
  source: response.headers.get('tally-cache'),
  etag: response.headers.get('etag'),
  text: await response.text(),
})

/** Asks until the answer is one that was given before: on a busy machine the store may say too late that nothing changed. */
async function askUntilKnown(key: string, body: object = TODAY) {
  for (;;) {
    const answer = await read(await ask(service, key, body))
    if (answer.source === 'hit') return answer
  }
}

const PAUSE_MS = 300
/** In production a load waits until no service uses what it knew. The loads of tests do not. */
const forget = () => new Promise((resolve) => setTimeout(resolve, PAUSE_MS))

test('an answer is given again until events are loaded or deleted', async () => {
  const { store } = database
  const project = await createWorld(store, [event('u1'), event('u2')])
  const key = await keys.issue(project.id, NOW)
  const countUsers = async (): Promise<number> => {
    const first = await read(await ask(service, key))
    const known = await askUntilKnown(key)
    const { text } = await read(await ask(uncached, key))
    expect([first.source, known.text, known.etag]).toEqual(['miss', text, first.etag])
    return (JSON.parse(text) as { data: [{ metrics: { users: number } }] }).data[0].metrics.users
  }
  expect(await countUsers()).toBe(2)
  await send(store, project, [event('u3')])
  await forget()
  expect(await countUsers()).toBe(3)
  await deleteUser(store, project.id, 'u1')
  await forget()
  expect(await countUsers()).toBe(2)
})

describe('the headers of an answer', () => {
  test('are those of one that may be kept, and of this request', async () => {
    const project = await createWorld(database.store, [event('u1')])
    const key = await keys.issue(project.id, NOW)
    await askUntilKnown(key)
    const response = await ask(service, key, TODAY, { 'X-Request-Id': 'request-1' })
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'tally-cache': expect.stringMatching(/^(hit|miss)$/),
      etag: expect.stringMatching(/^"[A-Za-z0-9_-]{43}"$/),
      'cache-control': 'private, no-cache',
      'content-type': 'application/json; charset=utf-8',
      'x-request-id': 'request-1',
      ratelimit: expect.any(String),
    })
  })

  test('304 for an answer that the client has, computed or known', async () => {
    const project = await createWorld(database.store, [event('u1')])
    const key = await keys.issue(project.id, NOW)
    const { etag } = await read(await ask(uncached, key))
    for (const value of [etag!, `W/${etag!}`, `"other", ${etag!}`, '*']) {
      for (const one of [uncached, service]) {
        const response = await ask(one, key, TODAY, { 'If-None-Match': value })
        expect([response.headers.get('etag'), response.headers.get('cache-control')]).toEqual([
          etag,
          'private, no-cache',
        ])
        expect(await read(response)).toMatchObject({ status: 304, text: '' })
      }
    }
    expect(
      await read(await ask(service, key, TODAY, { 'If-None-Match': '"other"' })),
    ).toMatchObject({
      status: 200,
      etag,
    })
  })

  test.each([
    ['retention', { date_range: 'today', interval: 'day' }],
    ['funnel', { date_range: 'today', steps: [{ filters: [] }, { filters: [] }] }],
    ['values', { date_range: 'today', field: 'page:path', search: '/' }],
  ])('those of %s have them, too, until events are loaded', async (path, body) => {
    const project = await createWorld(database.store, [event('u1')])
    const key = await keys.issue(project.id, NOW)
    const askOne = (of: RunningService, headers = {}) => ask(of, key, body, headers, path)
    const askUntilHit = async (): Promise<Awaited<ReturnType<typeof read>>> => {
      const answer = await read(await askOne(service))
      return answer.source === 'hit' ? answer : askUntilHit()
    }
    const fresh = await read(await askOne(uncached))
    expect(await askUntilHit()).toEqual({ ...fresh, source: 'hit' })
    const known = await askOne(service, { 'If-None-Match': fresh.etag! })
    expect(await read(known)).toMatchObject({ status: 304, etag: fresh.etag, text: '' })
    const csv = await askOne(service, { Accept: 'text/csv' })
    expect(csv.headers.get('etag')).not.toBe(fresh.etag)
    await send(database.store, project, [event('u2')])
    await forget()
    const later = await read(await askOne(uncached))
    expect(later.text).not.toBe(fresh.text)
    expect(await askUntilHit()).toEqual({ ...later, source: 'hit' })
  })

  test('errors have none of them', async () => {
    const project = await newProject(database.store, { retentionDays: 1 })
    const key = await keys.issue(project.id, NOW)
    const response = await ask(service, key, { date_range: '12months' })
    expect(Object.fromEntries(response.headers)).toMatchObject({ 'cache-control': 'no-store' })
    expect(await read(response)).toMatchObject({ status: 403, source: null, etag: null })
  })
})

test('equal questions at the same time get one answer, and the metrics count all', async () => {
  const project = await createWorld(database.store, [event('u1')])
  const key = await keys.issue(project.id, NOW)
  await askUntilKnown(key, { date_range: 'yesterday' })
  let coalesced = 0
  for (let day = 10; day < 30 && coalesced === 0; day++) {
    const body = { date_range: [`2026-05-${day}`, `2026-05-${day}`] }
    const asked = [1, 2, 3].map(async () => read(await ask(service, key, body)))
    const answers = await Promise.all(asked)
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    // On a busy machine the store may say too late that nothing changed: then each is computed.
    const sources = answers.map(({ source }) => source)
    coalesced = sources.filter((source) => source === 'coalesced').length
  }
  expect(coalesced).toBeGreaterThan(0)
  const metrics = await instruments.write()
  expect(metrics).toContain(`\ntallyhouse_answers_total{source="coalesced"} ${coalesced}\n`)
  expect(metrics).toMatch(/^tallyhouse_answers_total\{source="hit"\} [1-9]\d*$/m)
  expect(metrics).toMatch(/^tallyhouse_answer_cache_bytes [1-9]\d*$/m)
})

test('the same question about two projects has two answers', async () => {
  const [one, two] = [
    await createWorld(database.store, [event('u1')]),
    await createWorld(database.store, [event('u1'), event('u2')]),
  ]
  const [oneKey, twoKey] = [await keys.issue(one.id, NOW), await keys.issue(two.id, NOW)]
  const [first, second] = [
    await read(await ask(service, oneKey)),
    await read(await ask(service, twoKey)),
  ]
  expect(first.text).not.toBe(second.text)
  expect((await askUntilKnown(oneKey)).text).toBe(first.text)
  expect((await askUntilKnown(twoKey)).text).toBe(second.text)
})
