/** The examples of the contract are valid: each passes the validation of the service. */
import { describe, expect, test } from '@jest/globals'
import request from 'supertest'
import { isAnswered, OPERATIONS } from '../../src/analytics/operations/list.js'
import {
  BATCH,
  contractApp,
  EXPLAIN,
  EXPORT,
  echoApp,
  PROJECT,
  QUERY,
  send,
  VALUES,
} from './contract-app.js'
import { deref, document, examplesOf, operations, unionOf, type Schema } from './document.js'

const query = document.paths[QUERY]!['post']!
const project = document.paths[PROJECT]!['get']!
const questions = examplesOf(query.requestBody!)
const answers = new Map(examplesOf(query.responses['200']!))

const DEFAULTS = {
  metrics: ['users', 'pageviews', 'events'],
  group_by: [],
  order_by: [],
  limit: 100,
  offset: 0,
  filters: [],
  filtersOperator: 'and',
}

/** What an example shows of a query beyond what was sent. */
const SHOWN: Readonly<Record<string, object>> = {
  series_by_week: { interval: 'week' },
  series_in_time_zone: { interval: 'day' },
  series_by_country: { interval: 'day' },
}

interface Given {
  readonly status: number
  readonly body: unknown
}

const echo = echoApp()
let given: Given
const answering = contractApp((_req, res) => {
  res.status(given.status).json(given.body)
})

/** Returns what the service sends if its handler returns `answer`. */
async function received(answer: Given, sent: request.Test): Promise<Given> {
  given = answer
  const { status, text } = await sent
  return { status, body: JSON.parse(text) as unknown }
}

/** Returns what the service sends to a body if its handler returns `answer`. */
const answerWith = (answer: Given, path: string, body: unknown): Promise<Given> =>
  received(
    answer,
    request(answering)
      .post(path)
      .send(body as object),
  )

test.each(questions)(
  'the query "%s" is valid, and its defaults are filled in',
  async (_, { value }) => {
    const { status, answer } = await send(echo, value)
    expect({ status, answer }).toEqual({
      status: 200,
      answer: { ...DEFAULTS, ...(value as object) },
    })
  },
)

test.each(questions)(
  'the answer "%s" is valid; it echoes its question',
  async (name, { value }) => {
    const body = answers.get(name)?.value as { readonly query: unknown }
    const answer = { status: 200, body }
    expect(await answerWith(answer, QUERY, value)).toEqual(answer)
    expect(body.query).toEqual({ ...DEFAULTS, ...(value as object), ...SHOWN[name] })
  },
)

const values = document.paths[VALUES]!['post']!
const valueAnswers = new Map(examplesOf(values.responses['200']!))

test.each(examplesOf(values.requestBody!))(
  'the request for values "%s" is valid, and so is its answer, which echoes it with its defaults',
  async (name, { value }) => {
    const filled = { search: '', limit: 100, ...(value as object) }
    const sent = await send(echo, value, VALUES)
    expect(sent).toMatchObject({ status: 200, answer: filled })
    const body = valueAnswers.get(name)?.value as { readonly query: unknown }
    const answer = { status: 200, body }
    expect(await answerWith(answer, VALUES, value)).toEqual(answer)
    expect(body.query).toEqual(filled)
  },
)

const nest = (depth: number): object => ({
  type: 'group',
  operator: 'not',
  filters: depth === 0 ? [] : [nest(depth - 1)],
})

test.each<[string, unknown, string, string]>([
  ['an empty body', {}, 'field', 'is required'],
  ['no period', { field: 'country' }, 'date_range', 'is required'],
  [
    'an interval',
    { field: 'interval:day', date_range: 'today' },
    'field',
    'must be one of: country, city, ',
  ],
  [
    'an end before its start',
    { field: 'country', date_range: ['2026-01-02', '2026-01-01'] },
    'date_range',
    'must not start after its end',
  ],
  ['a long text', { field: 'os', date_range: 'today', search: 'x'.repeat(1_025) }, 'search', ''],
  ['a high limit', { field: 'os', date_range: 'today', limit: 1_001 }, 'limit', ''],
  [
    'a pattern that does not compile',
    {
      field: 'os',
      date_range: 'today',
      filters: [{ type: 'page', path: { operator: 'matches', value: '(' } }],
    },
    'filters.0.path.value',
    '',
  ],
  [
    'a filter in too many others',
    { field: 'os', date_range: 'today', filters: [nest(4)] },
    'filters.0.filters.0.filters.0.filters.0.filters.0',
    'must not lie in more than 3 other filters',
  ],
  [
    'another operator',
    { field: 'os', date_range: 'today', filtersOperator: 'not' },
    'filtersOperator',
    '',
  ],
  ['another member', { field: 'os', date_range: 'today', offset: 1 }, 'offset', ''],
])('a request for values with %s is refused', async (_, body, field, message) => {
  const { status, faults } = await send(echo, body, VALUES)
  expect(status).toBe(400)
  expect(faults).toContainEqual({ field, message: expect.stringContaining(message) })
})

const exported = document.paths[EXPORT]!['post']!
const exports = new Map(examplesOf(exported.responses['200']!))
const EVENT_FIELDS = document.components.schemas['EventField']!.enum!

test.each(examplesOf(exported.requestBody!))(
  'the request for events "%s" is valid, and so is its answer, which echoes it with its defaults',
  async (name, { value }) => {
    const filled = { filters: [], filtersOperator: 'and', ...(value as object) }
    expect(await send(echo, value, EXPORT)).toMatchObject({ status: 200, answer: filled })
    const body = exports.get(name)?.value as { readonly query: unknown }
    const asked = request(answering)
      .post(EXPORT)
      .send(value as object)
    expect(await received({ status: 200, body }, asked)).toEqual({ status: 200, body })
    expect(body.query).toEqual(filled)
  },
)

test('an export has all fields by default, which are those of an exported event', async () => {
  const { answer } = await send(echo, { date_range: 'today' }, EXPORT)
  expect(answer).toEqual({
    date_range: 'today',
    filters: [],
    filtersOperator: 'and',
    fields: EVENT_FIELDS,
  })
  const { properties } = document.components.schemas['ExportedEvent']!
  expect(Object.keys(properties!)).toEqual(EVENT_FIELDS)
})

test.each<[string, object, string, string]>([
  ['an empty body', {}, 'date_range', 'is required'],
  [
    'an end before its start',
    { date_range: ['2026-01-02', '2026-01-01'] },
    'date_range',
    'must not start after its end',
  ],
  ['an unknown zone', { time_zone: 'Mars/Base' }, 'time_zone', 'must be the name of a time zone'],
  ['no field', { fields: [] }, 'fields', ''],
  ['a field twice', { fields: ['path', 'path'] }, 'fields', ''],
  ['an unknown field', { fields: ['ip'] }, 'fields.0', 'must be one of: timestamp, name, '],
  ['no event', { limit: 0 }, 'limit', ''],
  ['a metric', { metrics: ['users'] }, 'metrics', ''],
  [
    'an invalid pattern',
    { filters: [{ type: 'entry_page', operator: 'matches', value: '(' }] },
    'filters.0.value',
    '',
  ],
])('a request for events with %s is refused', async (what, body, field, message) => {
  const asked = what === 'an empty body' ? {} : { date_range: 'today', ...body }
  const { status, faults } = await send(echo, asked, EXPORT)
  expect(status).toBe(400)
  expect(faults).toContainEqual({ field, message: expect.stringContaining(message) })
})

const explain = document.paths[EXPLAIN]!['post']!

test.each(examplesOf(explain.requestBody!))(
  'the query "%s" that is explained is valid, and so is its explanation',
  async (name, { value }) => {
    const sent = await send(echo, value, EXPLAIN)
    const filled = { ...DEFAULTS, ...(value as object) }
    expect(sent).toMatchObject({ status: 200, answer: filled })
    const body = new Map(examplesOf(explain.responses['200']!)).get(name)?.value as {
      query: unknown
    }
    const answer = { status: 200, body }
    expect(await answerWith(answer, EXPLAIN, value)).toEqual(answer)
    expect(body.query).toEqual(filled)
  },
)

const batch = document.paths[BATCH]!['post']!

interface BatchExample {
  readonly queries: readonly { readonly id: string; readonly operation?: string; body: object }[]
}
interface BatchAnswer {
  readonly results: readonly { readonly id: string; readonly status: number; body: object }[]
}

test.each(examplesOf(batch.requestBody!))(
  'the batch "%s" is valid, and so is its answer',
  async (name, { value }) => {
    const { queries } = value as BatchExample
    const sent = await send(echo, value, BATCH)
    const filled = queries.map((query) => ({ operation: 'query', ...query }))
    expect([sent.status, sent.answer]).toEqual([200, { queries: filled }])
    const body = new Map(examplesOf(batch.responses['200']!)).get(name)!.value as BatchAnswer
    const answer = { status: 200, body }
    expect(await answerWith(answer, BATCH, value)).toEqual(answer)
    expect(body.results.map(({ id }) => id)).toEqual(queries.map(({ id }) => id))
    for (const [i, { operation, body: asked }] of filled.entries()) {
      const { status, body: result } = body.results[i]!
      const path = `/v1/analytics/${operation}`
      const alone = await send(echo, asked, path)
      expect(alone.status).toBe(status)
      if (status !== 200) {
        expect(alone.answer).toEqual(result)
        continue
      }
      const inner = { status, body: result }
      expect(await answerWith(inner, path, asked)).toEqual(inner)
    }
  },
)

const inBatch = (id: unknown, body: unknown = { date_range: 'today' }) => ({ id, body })

test.each<[string, unknown, string, string]>([
  ['an empty body', {}, 'queries', 'is required'],
  ['no query', { queries: [] }, 'queries', 'must have at least 1 item'],
  [
    'too many queries',
    { queries: Array.from({ length: 21 }, (_, i) => inBatch(`q${i}`)) },
    'queries',
    'must have at most 20 items',
  ],
  ['a query without an id', { queries: [{ body: {} }] }, 'queries.0.id', 'is required'],
  ['an empty id', { queries: [inBatch('')] }, 'queries.0.id', 'must'],
  ['a long id', { queries: [inBatch('x'.repeat(65))] }, 'queries.0.id', 'must'],
  ['a number as an id', { queries: [inBatch(1)] }, 'queries.0.id', 'must be a string'],
  ['a query without a body', { queries: [{ id: 'a' }] }, 'queries.0.body', 'is required'],
  [
    'another operation',
    { queries: [{ ...inBatch('a'), operation: 'batch' }] },
    'queries.0.operation',
    `must be one of: ${OPERATIONS.filter(isAnswered)
      .map(({ name }) => name)
      .join(', ')}`,
  ],
  ['another member', { queries: [{ ...inBatch('a'), path: '/' }] }, 'queries.0.path', ''],
  [
    'an id that occurs twice',
    { queries: [inBatch('a'), inBatch('b'), inBatch('a')] },
    'queries.2.id',
    'is the id of another query of the batch',
  ],
])('a batch with %s is refused', async (_, body, field, message) => {
  const { status, faults } = await send(echo, body, BATCH)
  expect(status).toBe(400)
  expect(faults).toContainEqual({ field, message: expect.stringContaining(message) })
})

test('an empty list of metrics means the default three', async () => {
  const { answer } = await send(echo, { date_range: 'today', metrics: [] })
  expect(answer).toEqual({ date_range: 'today', ...DEFAULTS })
})

test('every query has a response, and every response a query', () => {
  expect([...answers.keys()]).toEqual(questions.map(([name]) => name))
})

test('there is an example of each type of filter, and a query for each operator', () => {
  const filters = Object.values(unionOf('Filter')).map(($ref) => deref<Schema>({ $ref }).examples)
  const text = JSON.stringify([questions, filters])
  const operators = ['StringOperator', 'ListOperator'].flatMap(
    (name) => document.components.schemas[name]!.enum!,
  )
  const absent = (member: string, values: readonly string[]) =>
    values.filter((value) => !text.includes(`"${member}":"${value}"`))
  expect(absent('type', Object.keys(unionOf('Filter')))).toEqual([])
  expect(absent('operator', operators)).toEqual([])
})

test.each(examplesOf(project.responses['200']!))(
  'the project "%s" is valid',
  async (_, example) => {
    const answer = { status: 200, body: example.value }
    expect(await received(answer, request(answering).get(PROJECT))).toEqual(answer)
  },
)

describe('errors', () => {
  const errors = Object.values(document.components.responses).flatMap(examplesOf)

  test.each(errors)('the example of %s is valid and has its code', async (code, { value }) => {
    // A separate status: the validator does not check responses from 500 up.
    const answer = { status: 418, body: value }
    expect(await received(answer, request(answering).get(PROJECT))).toEqual(answer)
    expect(value).toMatchObject({ error: { code } })
  })

  test('each code of the contract has exactly one example', () => {
    const codes = document.components.schemas['ErrorCode']!.enum!
    // Their codes have examples of their own beside these.
    const { NotReady, OtherError } = document.components.responses
    const others = [NotReady!, OtherError!].flatMap(examplesOf).map(([code]) => code)
    expect(errors.map(([code]) => code).sort()).toEqual([...codes, ...others].sort())
  })
})

test('every response of every operation has an example, unless it has no body', () => {
  const responses = operations
    .flatMap(({ operation }) => Object.values(operation.responses))
    .filter((response) => 'content' in deref(response))
  expect(responses.filter((response) => examplesOf(deref(response)).length === 0)).toEqual([])
})

test.each([
  ['a missing member', { project: { id: 'x' } }],
  [
    'an unknown member',
    { ...(examplesOf(project.responses['200']!)[0]![1].value as object), x: 1 },
  ],
  ['no object', []],
])('a response with %s becomes INTERNAL_ERROR', async (_, body) => {
  const message = 'Something went wrong.'
  expect(await received({ status: 200, body }, request(answering).get(PROJECT))).toEqual({
    status: 500,
    body: { error: { code: 'INTERNAL_ERROR', message, docs: '/docs/errors#internal_error' } },
  })
})
