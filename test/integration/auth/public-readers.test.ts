/** The readers of public projects: by which names they are found, and for how long after the project has changed. */
import { beforeAll, beforeEach, expect, test } from '@jest/globals'
import { createPublicReaders, type PublicReaders } from '../../../src/auth/public-readers.js'
import type { Connection } from '../../../src/clickhouse/connection.js'
import { StoreUnavailableError } from '../../../src/clickhouse/errors.js'
import { ApiError } from '../../../src/contract/errors.js'
import type { StoredProject } from '../../../src/projects/project.js'
import {
  createProject,
  markDeleting,
  rotateToken,
  updateProject,
} from '../../../src/projects/store.js'
import { withDatabase } from '../../support/store/database.js'

const NOW = new Date('2026-01-31T12:00:00Z')

const database = withDatabase()
let shop: StoredProject
let closed: StoredProject
let readers: PublicReaders
let ms = 0
/** The statements that the readers ran. */
let lookups = 0

beforeAll(async () => {
  shop = await create('shop', true)
  closed = await create('closed', false)
})
beforeEach(() => {
  ms = 0
  lookups = 0
  readers = createReaders()
})

const create = (id: string, hasPublicDashboard: boolean): Promise<StoredProject> =>
  createProject(database.store, { id, name: id, domain: 'a.example', hasPublicDashboard }, NOW)

function createReaders(now = NOW): PublicReaders {
  const { reader } = database.store
  const counted: Connection = {
    ...reader,
    query: (...args) => {
      lookups++
      return reader.query(...args)
    },
  }
  return createPublicReaders(
    { reader: counted },
    () => now,
    () => ms,
  )
}

/** Returns the id of the project whose reader is found. */
const find = async (name: string): Promise<string | undefined> =>
  (await readers.find(name))?.project.id

test('a public project has a reader by its id and by its token, who may read it alone', async () => {
  const want = {
    principal: { keyId: 'public:shop', projectId: 'shop' },
    project: shop,
    scopes: ['read'],
    leftMs: 4_000,
  }
  expect(await readers.find('shop')).toEqual(want)
  expect(await readers.find(shop.token)).toEqual(want)
})

test('no other name has one', async () => {
  const names = ['closed', closed.token, 'nothing', '', 'SHOP', 'shop ', shop.token.slice(0, -1)]
  expect(await Promise.all(names.map(find))).toEqual(names.map(() => undefined))
})

test('made-up names cost the store one lookup in four seconds, and so do known ones', async () => {
  const names = Array.from({ length: 1_000 }, (_, i) => (i % 10 === 0 ? 'shop' : `shop-${i}`))
  await Promise.all(names.map(find))
  for (ms = 0; ms < 3_999; ms += 100) await find(`later-${ms}`)
  expect(lookups).toBe(1)
  ms = 4_000
  await find('shop')
  expect(lookups).toBe(2)
})

test('it ends four seconds after the project was read, not after it was asked for', async () => {
  await find('shop')
  await updateProject(database.store, 'shop', { hasPublicDashboard: false })
  ms = 3_999
  expect(await readers.find('shop')).toMatchObject({ leftMs: 1 })
  ms = 4_000
  expect(await find('shop')).toBeUndefined()
  await updateProject(database.store, 'shop', { hasPublicDashboard: true })
  ms = 8_000
  expect(await find('shop')).toBe('shop')
})

test('a project that is being deleted has none', async () => {
  await create('leaving', true)
  expect(await find('leaving')).toBe('leaving')
  await markDeleting(database.store.writer, 'leaving')
  ms = 4_000
  expect(await find('leaving')).toBeUndefined()
})

test('a former token finds the project until it ends', async () => {
  const { token } = await create('rotated', true)
  const until = new Date(NOW.getTime() + 1_000)
  const { token: next } = await rotateToken(database.store, 'rotated', until, NOW)
  expect(await Promise.all([find(token), find(next)])).toEqual(['rotated', 'rotated'])
  readers = createReaders(until)
  expect(await Promise.all([find(token), find(next)])).toEqual([undefined, 'rotated'])
})

test('what was known is recalled for longer, to refuse requests', async () => {
  expect(readers.recall('shop')).toBeUndefined()
  await find('shop')
  ms = 100_000
  expect(readers.recall('shop')?.principal.keyId).toBe('public:shop')
  expect(readers.recall('closed')).toBeUndefined()
})

test('without the store nobody is found, and the next lookup may succeed', async () => {
  let isAway = true
  const { reader } = database.store
  const failing: Connection = {
    ...reader,
    query: (...args) =>
      isAway ? Promise.reject(new StoreUnavailableError('away')) : reader.query(...args),
  }
  readers = createPublicReaders({ reader: failing }, () => NOW)
  const error = await readers.find('shop').catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(ApiError)
  expect(error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', headers: { 'Retry-After': '1' } })
  isAway = false
  expect(await find('shop')).toBe('shop')
})
