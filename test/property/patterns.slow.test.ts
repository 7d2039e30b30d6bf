/** Patterns in filters: what the engine matches, and what it refuses although the check before accepted it. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { RE2JS } from 're2js'
import { checkPattern } from '../../src/analytics/request/patterns.js'
import type { RunningService } from '../../src/bootstrap/serving/start-service.js'
import { FOLDED_OPERATORS, STRING_OPERATORS } from '../../src/model/operators.js'
import { sql, statement, strings } from '../../src/clickhouse/sql.js'
import { createDatabase, type TestDatabase } from '../support/store/database.js'
import { createKeys, type TestKeys } from '../support/world/keys.js'
import { startTestService } from '../support/world/service.js'
import { createWorld, NOW } from '../support/world/world.js'

let database: TestDatabase
let keys: TestKeys
let service: RunningService
let key: string

beforeAll(async () => {
  database = await createDatabase()
  keys = await createKeys(database.store)
  const timestamp = '2026-06-01T00:00:00Z'
  const project = await createWorld(database.store, [{ timestamp, user_id: 'u', path: '/Straße' }])
  key = await keys.issue(project.id, NOW)
  service = await startTestService({ store: database.store, now: () => NOW })
})
afterAll(async () => {
  await service.stop()
  await keys.remove()
  await database.drop()
})

async function ask(filters: readonly object[]): Promise<unknown> {
  const response = await fetch(`${service.address}/v1/analytics/query`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ date_range: ['2026-06-01', '2026-06-01'], metrics: ['users'], filters }),
  })
  const { error, data } = (await response.json()) as {
    error?: { details: unknown }
    data?: readonly [{ metrics: object }]
  }
  return { status: response.status, ...(error && { details: error.details }), ...data?.[0].metrics }
}

const path = (operator: string, value: string, more: object = {}): object => ({
  type: 'page',
  path: { operator, value, ...more },
})

test.each([
  [[path('matches', '^/str')], 0],
  [[path('matches', '^/str', { caseSensitive: false })], 1],
  [[path('eq', '/STRAẞE', { caseSensitive: false })], 1],
  [[path('eq', '/STRASSE', { caseSensitive: false })], 0],
  [[path('notMatches', '\\d')], 1],
  [Array.from({ length: 20 }, () => path('matches', 'ß{1}')), 1],
])('%j: %i users', async (filters, users) => {
  expect(await ask(filters)).toEqual({ status: 200, users })
})

test('a pattern that does not compile is a 400 with its place', async () => {
  const filters = [{ type: 'group', operator: 'not', filters: [path('matches', 'a(')] }]
  const message = 'must be a pattern of RE2: missing closing ) at character 2'
  expect(await ask(filters)).toEqual({
    status: 400,
    details: [{ field: 'filters.0.filters.0.path.value', message }],
  })
})

test('a pattern that only the engine refuses is a 400, too', async () => {
  expect(checkPattern('\\p{Cn}')).toBeUndefined()
  expect(await ask([path('any', ''), path('matches', '\\p{Cn}')])).toEqual({
    status: 400,
    details: [
      {
        field: 'filters.1.path.value',
        message: 'must be a pattern of RE2: it is too large, or names an unknown class',
      },
    ],
  })
})

const TEXTS = [
  ...['', 'a', 'A', 'ab', 'aab', 'b\na', 'é', 'É', 'ß', 'ẞ', 'ss', 'ΟΣ', 'ος', 'οσ', 'İ', 'i', 'ı'],
  ...['I', '\u212a', 'k', 'K', 'ſ', 's', '.', '*', '\\', '😀', 'a😀b', 'a.b', 'ab ba', '(', 'ba)'],
]
const piece = fc.oneof(
  fc.constantFrom(
    ...['a', 'b', 'A', 'é', 'ß', 'Σ', 'ς', 'K', 's', '.', '😀', '\\.', '\\(', '\\\\'],
  ),
  fc.constantFrom(...['^', '$', '\\b', '\\w', '\\pL', '[a-c]', '[^a]', '[[:upper:]]', '[é-ö]', '']),
  fc.constantFrom(
    '(?i)',
    '(?-i)',
    '(?-s)',
    '(?i:a)',
    '\\Qa.\\E',
    '\\x{e9}',
    ' ',
    '(',
    ')',
    '|',
    '|',
  ),
)
const quantified = fc
  .tuple(piece, fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{0,2}', '*?', '+?'))
  .map((parts) => parts.join(''))
const pattern = fc.array(quantified, { maxLength: 6 }).map((parts) => parts.join(''))
const select = async (condition: ReturnType<typeof sql>): Promise<readonly number[]> => {
  const asked = statement(
    sql`SELECT ${condition} AS found FROM (SELECT arrayJoin(${strings(TEXTS)}) AS text)`,
  )
  const { rows } = await database.store.reader.query<{ found: number }>(asked)
  return rows.map(({ found }) => found)
}

test('the engine matches what another implementation of RE2 matches', async () => {
  let compared = 0
  await fc.assert(
    fc.asyncProperty(pattern, async (value) => {
      fc.pre(checkPattern(value) === undefined)
      compared += 1
      const [exact, folded] = [RE2JS.DOTALL, RE2JS.DOTALL | RE2JS.CASE_INSENSITIVE].map((flags) => {
        const compiled = RE2JS.compile(value, flags)
        return TEXTS.map((text) => Number(compiled.matcher(text).find()))
      })
      expect(await select(STRING_OPERATORS.matches(sql`text`, value))).toEqual(exact)
      expect(await select(FOLDED_OPERATORS.matches(sql`text`, value))).toEqual(folded)
    }),
    { numRuns: 300, seed: 20_260_615, endOnFailure: false },
  )
  expect(compared).toBe(300)
})

test('texts are compared without case as JavaScript folds it', async () => {
  for (const value of TEXTS) {
    const equal = TEXTS.map((text) =>
      Number(
        text.length === value.length &&
          new RegExp(`^${value.replaceAll(/[\\.*()]/g, '\\$&')}$`, 'isu').test(text),
      ),
    )
    expect([value, await select(FOLDED_OPERATORS.eq(sql`text`, value))]).toEqual([value, equal])
  }
})
