/** A ClickHouse, or a proxy before it, that answers wrongly: the error of the API that clients get, and nothing else. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createKeyLookup } from '../../../../src/auth/key-lookup.js'
import type { RunningService } from '../../../../src/bootstrap/serving/start-service.js'
import { connect } from '../../../../src/clickhouse/connection.js'
import { sql, statement } from '../../../../src/clickhouse/sql.js'
import { connectStore, type Store } from '../../../../src/clickhouse/store.js'
import type { ErrorCode } from '../../../../src/contract/api.js'
import { ERROR_STATUS } from '../../../../src/contract/errors.js'
import { createProject } from '../../../../src/projects/store.js'
import {
  startFakeClickHouse,
  type FakeClickHouse,
} from '../../../support/faults/fake-clickhouse.js'
import { SECRET, WRONG_ANSWERS } from '../../../support/faults/wrong-answers.js'
import { createDatabase, type TestDatabase } from '../../../support/store/database.js'
import { createKeys, type TestKeys } from '../../../support/world/keys.js'
import { startTestService } from '../../../support/world/service.js'

const NOW = new Date('2026-03-10T12:00:00.000Z')
const TIMEOUT_MS = 1_000

const WRITE = statement(sql`INSERT INTO FUNCTION null('n UInt8') SELECT 1`)

let database: TestDatabase
let keys: TestKeys
let fake: FakeClickHouse
let store: Store
let service: RunningService
let token: string
beforeAll(async () => {
  database = await createDatabase()
  keys = await createKeys(database.store)
  await createProject(database.store, { id: 'shop', name: 'S', domain: 's.example' }, NOW)
  token = await keys.issue('shop', NOW)
  fake = await startFakeClickHouse(database.endpoint.url)
  const faulty = connectStore({ ...database.endpoint, url: fake.url })
  // Keys are looked up in the real store, so that every request gets as far as its query.
  store = { ...faulty, lookups: database.store.lookups }
  const env = { QUERY_TIMEOUT_MS: String(TIMEOUT_MS) }
  service = await startTestService({ store, now: () => NOW, env })
})
afterAll(async () => {
  await service.stop()
  await store.close()
  await fake.stop()
  await database.drop()
  await keys.remove()
})

const get = (): Promise<Response> =>
  fetch(`${service.address}/v1/project`, { headers: { Authorization: `Bearer ${token}` } })

describe.each(WRONG_ANSWERS)('%s', (_name, answer, code) => {
  test(`a query is refused with ${code}, and the next one is answered`, async () => {
    fake.answer(answer)
    const response = await get()
    const text = await response.text()
    expect([response.status, (JSON.parse(text) as { error: { code: string } }).error.code]).toEqual(
      [ERROR_STATUS[code as ErrorCode], code],
    )
    expect(response.headers.get('retry-after')).toBe(code === 'SERVICE_UNAVAILABLE' ? '1' : null)
    expect(text).not.toContain(SECRET)
    fake.answer('rightly')
    expect((await get()).status).toBe(200)
  })

  test('a statement without a result is not taken for done', async () => {
    fake.answer(answer)
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const write = store.admin.execute(WRITE, {}, signal)
    await expect(write).rejects.toThrow()
    fake.answer('rightly')
    await store.admin.execute(WRITE)
  })

  test('a key is not taken for invalid', async () => {
    fake.answer(answer)
    const reader = connect({ ...database.endpoint, url: fake.url }, 'reader')
    const lookup = createKeyLookup(reader).find({ keyId: 'k', projectId: 'shop' })
    const expected = code === 'INTERNAL_ERROR' ? code : 'SERVICE_UNAVAILABLE'
    await expect(lookup).rejects.toMatchObject({ code: expected })
    await reader.close()
  })
})
