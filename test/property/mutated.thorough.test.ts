/** Random damage to valid requests never fails the service: each response is an answer or an error of the contract. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { RunningService } from '../../src/bootstrap/serving/start-service.js'
import type { ErrorResponse } from '../../src/contract/api.js'
import { ERROR_STATUS } from '../../src/contract/errors.js'
import { event, request } from '../support/arbitrary/world.js'
import { scaled } from '../support/effort.js'
import { createDatabase, type TestDatabase } from '../support/store/database.js'
import { createKeys, type TestKeys } from '../support/world/keys.js'
import { startTestService } from '../support/world/service.js'
import { createWorld, fillDefaults } from '../support/world/world.js'

const REQUESTS = scaled(100)
const AT_ONCE = 16
const SEED = Number(process.env['LAWS_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const NOW = new Date('2025-02-01T12:00:00Z')

let database: TestDatabase
let keys: TestKeys
let service: RunningService
let token: string
beforeAll(async () => {
  database = await createDatabase()
  keys = await createKeys(database.store)
  const events = fc.sample(event, { seed: 1, numRuns: 200 })
  const { id: projectId } = await createWorld(database.store, events)
  token = await keys.issue(projectId, NOW)
  // It checks its responses: one that breaks the contract would be a 500.
  service = await startTestService({
    store: database.store,
    now: () => NOW,
    env: { ROLE: 'api', MAX_QUERIES_PER_KEY: '16', QUERY_TIMEOUT_MS: '60000' },
  })
})
afterAll(async () => {
  await service.stop()
  await database.drop()
  await keys.remove()
})

/** Values that are wrong in most places. */
const odd = fc.oneof(
  fc.constantFrom(null, true, 0, -1, 1.5, 1e308, -0, '', 'x', [], {}, [[]], [null]),
  fc.constantFrom(
    '__proto__',
    'constructor',
    'NaN',
    '1; DROP TABLE events',
    '{p0:String}',
    '\u0000',
  ),
  fc.constantFrom('9999-12-31', '0000-01-01', '2024-02-30', '2025-01-01T00:00:00Z', '\ud800'),
  fc.string({ unit: 'binary', maxLength: 1_100 }),
  fc.jsonValue({ maxDepth: 3 }),
)

/** A change of a place in a document; the numbers choose the place on the way down. */
const damage = fc.record({
  way: fc.array(fc.nat(20), { minLength: 1, maxLength: 6 }),
  kind: fc.constantFrom('replace', 'replace', 'remove', 'add', 'repeat'),
  name: fc.constantFrom('extra', '__proto__', 'type', 'value', 'operator', 'limit', 'filters'),
  value: odd,
})
type Damage = typeof damage extends fc.Arbitrary<infer T> ? T : never

function applyDamage(document: unknown, { way, kind, name, value }: Damage): unknown {
  if (typeof document !== 'object' || document === null || way.length === 0) return value
  const members = Object.entries<unknown>(document as Readonly<Record<string, unknown>>)
  const [step = 0, ...rest] = way
  const [key, member] = members[step % Math.max(1, members.length)] ?? [name, value]
  const changed =
    rest.length > 0 && typeof member === 'object' && member !== null
      ? members.map(([k, v]): [string, unknown] =>
          k === key ? [k, applyDamage(v, { way: rest, kind, name, value })] : [k, v],
        )
      : changeMembers(members, key, { kind, name, value })
  if (Array.isArray(document)) return changed.map(([, one]) => one)
  return Object.fromEntries(changed)
}

function changeMembers(
  members: readonly (readonly [string, unknown])[],
  key: string,
  { kind, name, value }: Pick<Damage, 'kind' | 'name' | 'value'>,
): (readonly [string, unknown])[] {
  switch (kind) {
    case 'remove':
      return members.filter(([one]) => one !== key)
    case 'add':
      return [...members, [name, value]]
    case 'repeat':
      return members.flatMap((member) => [member, member])
    case 'replace':
      return members.map(([k, v]) => [k, k === key ? value : v])
  }
}

/** The text of a damaged request. A few are cut off, or have bytes replaced. */
const body = fc
  .tuple(
    request,
    fc.array(damage, { minLength: 0, maxLength: 2 }),
    fc.oneof(
      { weight: 9, arbitrary: fc.constant(null) },
      {
        weight: 1,
        arbitrary: fc.tuple(fc.nat(400), fc.constantFrom('', '"', '}', ',', '\\', '\u0001')),
      },
    ),
  )
  .map(([asked, changes, cut]) => {
    const text = JSON.stringify(
      changes.reduce<unknown>((document, one) => applyDamage(document, one), fillDefaults(asked)),
    )
    if (cut === null) return text
    return text.slice(0, cut[0]) + cut[1] + text.slice(cut[0] + 1)
  })

test(`${REQUESTS} damaged requests (seed ${SEED})`, async () => {
  const bodies = fc.sample(body, { seed: SEED, numRuns: REQUESTS })
  const counts = new Map<number, number>()
  let next = 0
  const sender = async (): Promise<void> => {
    for (let i = next++; i < bodies.length; i = next++) {
      const response = await fetch(`${service.address}/v1/analytics/query`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        body: bodies[i]!,
      })
      const answer = (await response.json()) as ErrorResponse
      const { status } = response
      counts.set(status, (counts.get(status) ?? 0) + 1)
      if (status >= 500) expect({ body: bodies[i], status, answer }).toBeUndefined()
      expect(response.headers.get('x-request-id')).not.toBeNull()
      if (status !== 200) {
        const { code, message, details } = answer.error
        expect(new Map<string, number>(Object.entries(ERROR_STATUS)).get(code)).toBe(status)
        expect(message).not.toBe('')
        expect(JSON.stringify(details ?? [])).not.toMatch(/SELECT|127\.0\.0\.1/)
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, sender))
  // Enough of both, or the test means nothing.
  expect(counts.get(200) ?? 0).toBeGreaterThan(REQUESTS / 10)
  expect(counts.get(400) ?? 0).toBeGreaterThan(REQUESTS / 4)
}, 3_600_000)
