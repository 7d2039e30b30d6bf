/** Thousands of wrong requests, and right ones that look wrong: each gets the response that the contracts promise. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { RunningService } from '../../src/bootstrap/serving/start-service.js'
import { createDatabase, type TestDatabase } from '../support/store/database.js'
import { createKeys, type TestKeys } from '../support/world/keys.js'
import { startTestService } from '../support/world/service.js'
import { newProject } from '../support/world/world.js'
import type { Case, Credentials, Draft } from './case.js'
import { JSON_CASES } from './json-texts.js'
import { QUERY_CASES } from './queries.js'
import { TEXT_CASES } from './texts.js'
import { TRANSPORT_CASES } from './transport.js'

const NOW = new Date('2026-03-10T12:00:00.000Z')

let database: TestDatabase
let keys: TestKeys
let service: RunningService
let credentials: Credentials
beforeAll(async () => {
  database = await createDatabase()
  keys = await createKeys(database.store)
  const { id, token } = await newProject(database.store)
  credentials = { key: await keys.issue(id, NOW), token }
  service = await startTestService({ store: database.store, now: () => NOW })
})
afterAll(async () => {
  await service.stop()
  await database.drop()
  await keys.remove()
})

interface ErrorBody {
  readonly error?: {
    readonly code: string
    readonly message: string
    readonly details?: readonly { readonly field: string; readonly message: string }[]
  }
}

/** Sending at the same time. */
const CLIENTS = 4

/** No error may contain statements, names of hosts and files, or stacks. */
const LEAKS = /SELECT |DB::|ClickHouse|127\.0\.0\.1|localhost|node_modules|\.[jt]s:\d| {4}at /

/** Sends a case and returns what is wrong with the response; undefined if it is right. */
async function findFault({ path, method, headers, body, want }: Case): Promise<unknown> {
  const response = await fetch(`${service.address}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
  })
  const text = await response.text()
  const { error } = (text === '' ? {} : JSON.parse(text)) as ErrorBody
  const got = { status: response.status, code: error?.code, details: error?.details }
  if (!response.headers.has('x-request-id')) return { got, missing: 'X-Request-Id' }
  if (want === 'ok') return response.status < 300 && error === undefined ? undefined : { got }
  if (LEAKS.test(text)) return { got, leak: text }
  const isRight =
    got.status === want.status &&
    got.code === want.code &&
    error?.message !== '' &&
    (want.field === undefined || (error?.details ?? []).some(({ field }) => field === want.field))
  return isRight ? undefined : { got, want }
}

describe.each<[string, readonly Draft[], number]>([
  ['JSON', JSON_CASES, 400],
  ['queries', QUERY_CASES, 600],
  ['texts', TEXT_CASES, 700],
  ['around the body', TRANSPORT_CASES, 100],
])('%s', (_, drafts, atLeast) => {
  test(`${drafts.length} cases`, async () => {
    expect(drafts.length).toBeGreaterThan(atLeast)
    const left = drafts.map((draft) => draft(credentials))
    const faults: unknown[] = []
    const client = async (): Promise<void> => {
      for (let one = left.shift(); one !== undefined; one = left.shift()) {
        const fault = await findFault(one)
        if (fault !== undefined) faults.push([one.name, fault])
      }
    }
    await Promise.all(Array.from({ length: CLIENTS }, client))
    expect(faults).toEqual([])
  })
})

test('the service still answers', async () => {
  const response = await fetch(`${service.address}/readyz`)
  expect(response.status).toBe(200)
})
