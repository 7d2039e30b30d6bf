/** Known public tokens are found whatever the store and made-up tokens do. */
import { beforeEach, describe, expect, test } from '@jest/globals'
import type { Connection } from '../../../src/clickhouse/connection.js'
import { StoreUnavailableError } from '../../../src/clickhouse/errors.js'
import type { Statement } from '../../../src/clickhouse/sql.js'
import { createFindProject, type FindProject } from '../../../src/ingest/collect/find-project.js'
import { createPublicToken } from '../../../src/projects/public-token.js'

const KNOWN = createPublicToken()
/** The token of a project that an earlier version created. */
const OLD = 'tallypub_x7k2m9q4c1v8b5n3z6t0w2r4'

/** The store: what it answers, the tokens that it was asked for, and the time. */
let answer: (token: string) => Promise<boolean>
let asked: string[]
let now: number
let find: FindProject
beforeEach(() => {
  answer = (token) => Promise.resolve(token === KNOWN || token === OLD)
  asked = []
  now = 0
  const query = async ({ query_params }: Statement) => {
    const token = String(Object.values(query_params)[0])
    asked.push(token)
    const rows = (await answer(token)) ? [{ id: 'p', token, created_ms: 0, former_widths: [] }] : []
    return { rows, total: rows.length, cost: { rowsRead: 0, bytesRead: 0, ms: 0 } }
  }
  find = createFindProject({ query } as unknown as Connection, () => now)
})

const outcome = (token: string): Promise<string> =>
  find(token).then(
    ({ id }) => id,
    (error: unknown) => (error as { readonly code: string }).code,
  )
const away = () => Promise.reject(new StoreUnavailableError('connect ECONNREFUSED'))
const never = () => new Promise<never>(() => undefined)
const settle = () => new Promise((resolve) => setImmediate(resolve))

test('an API key is named as what it is, and not looked up', async () => {
  await expect(find('eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJzaG9wIn0.c2lnbmF0dXJl')).rejects.toMatchObject(
    {
      code: 'UNAUTHORIZED',
      message: expect.stringMatching(/^This is an API key, which only reads\./),
    },
  )
  expect(asked).toEqual([])
})

describe('a known token', () => {
  test.each([
    { why: 'is accepted while it is looked up', at: 4_000, asks: 2, store: never, want: 'p' },
    { why: 'is accepted while the store is away', at: 59_999, asks: 2, store: away, want: 'p' },
    {
      why: 'is not, after a minute',
      at: 60_000,
      asks: 2,
      store: away,
      want: 'SERVICE_UNAVAILABLE',
    },
  ])('$why', async ({ at, asks, store, want }) => {
    expect(await outcome(KNOWN)).toBe('p')
    answer = store
    now = at
    expect(await outcome(KNOWN)).toBe(want)
    expect(asked.length).toBe(asks)
  })

  test('is refused once a lookup shows that its project was deleted', async () => {
    await outcome(KNOWN)
    answer = () => Promise.resolve(false)
    now = 4_000
    expect(await outcome(KNOWN)).toBe('p')
    await settle()
    expect(await outcome(KNOWN)).toBe('UNAUTHORIZED')
    expect(asked).toEqual([KNOWN, KNOWN])
  })
})

test('a token with a wrong check sum is refused without a lookup', async () => {
  const wrong = KNOWN.slice(0, -1) + (KNOWN.endsWith('a') ? 'b' : 'a')
  expect(await outcome(wrong)).toBe('UNAUTHORIZED')
  expect(asked).toEqual([])
})

test('tokens of one kind take no places of another', async () => {
  expect(await outcome(OLD)).toBe('p')
  const isKnown = answer
  answer = (token) => (token === KNOWN || token === OLD ? isKnown(token) : never())
  const madeUp = Array.from({ length: 600 }, (_, n) => `tallypub_${n}`)
  const waiting = madeUp.map(outcome)
  expect(await Promise.race([...waiting.slice(504), settle()])).toBe('SERVICE_UNAVAILABLE')
  expect(asked).toHaveLength(1 + 4)
  now = 30_000
  expect([await outcome(OLD), await outcome(KNOWN)]).toEqual(['p', 'p'])
})
