/** The contract of the collector is complete, agrees with the code, and its examples are valid. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { ERROR_STATUS } from '../../src/contract/errors.js'
import { readSpec } from '../../src/contract/spec.js'
import { FIELDS } from '../../src/model/event-fields.js'
import { PROJECT, startApp, type RunningApp } from '../integration/http/harness.js'

interface Schema {
  readonly $ref?: string
  readonly description?: string
  readonly enum?: readonly string[]
  readonly type?: string | readonly string[]
  readonly examples?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: unknown
  readonly unevaluatedProperties?: unknown
}
type Examples = Readonly<Record<string, { readonly value?: unknown; readonly $ref?: string }>>
interface Content {
  readonly headers?: Readonly<Record<string, unknown>>
  readonly content: Readonly<Record<string, { readonly examples: Examples }>>
}
interface Document {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly operationId: string
            readonly security: unknown
            readonly requestBody: Content
            readonly responses: Readonly<Record<string, Content & { readonly $ref?: string }>>
          }
        >
      >
    >
  >
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly responses: Readonly<Record<string, Content>>
    readonly examples: Readonly<Record<string, { readonly value: unknown }>>
  }
}

const document = parse(readSpec('collector').yaml) as Document
const { schemas, responses, examples } = document.components
const operation = document.paths['/v1/events']!['post']!
const nameOf = (ref: string): string => ref.split('/').at(-1)!
const named = ({ $ref, ...schema }: Schema): Schema => ({
  ...($ref === undefined ? {} : schemas[nameOf($ref)]),
  ...schema,
})
const valuesOf = (all: Examples): readonly (readonly [string, unknown])[] =>
  Object.entries(all).map(([name, { value, $ref }]) => [
    name,
    $ref === undefined ? value : examples[nameOf($ref)]!.value,
  ])

const places = Object.entries(schemas).flatMap(([name, schema]) => [
  [name, schema] as const,
  ...Object.entries(schema.properties ?? {}).map(
    ([property, inner]) => [`${name}.${property}`, inner] as const,
  ),
])

test('there is one operation', () => {
  expect(
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => [operationId, method, path]),
    ),
  ).toEqual([['sendEvents', 'post', '/v1/events']])
  // The token is in the header, or elsewhere.
  expect(operation.security).toEqual([{ PublicToken: [] }, {}])
})

test('the fields of an event are those of the loader, with their types', () => {
  const fields = Object.entries(schemas['EventFields']!.properties!)
  expect(new Map(fields.map(([name, { type }]) => [name, type]))).toEqual(
    new Map(
      [...FIELDS]
        .filter(([name]) => name !== 'project')
        .map(([name, type]) => [name, [type, 'null']]),
    ),
  )
})

test('every schema has a description', () => {
  const without = places.filter(([, schema]) => !/\w/.test(named(schema).description ?? ''))
  expect(without.map(([place]) => place)).toEqual([])
})

const COVERED_BY_EXAMPLES = new Set([
  'EventFields',
  'ErrorResponse',
  'ErrorResponse.error',
  'ApiError',
])

test('every schema has an example', () => {
  const without = places.filter(
    ([place, schema]) =>
      !COVERED_BY_EXAMPLES.has(place) && (named(schema).examples ?? []).length === 0,
  )
  expect(without.map(([place]) => place)).toEqual([])
})

const RESPONSES = new Set(['Accepted', 'ExcludedEvents', 'ErrorResponse', 'ApiError', 'FieldError'])

test.each(
  places.filter(
    ([place, { type, properties }]) => type === 'object' && properties && place !== 'EventFields',
  ),
)(
  '%s refuses unknown properties if it is a part of requests, and allows them in responses',
  (place, schema) => {
    const { additionalProperties, unevaluatedProperties } = schema
    expect(additionalProperties ?? unevaluatedProperties).toBe(
      RESPONSES.has(place) ? undefined : false,
    )
  },
)

describe('errors', () => {
  const codes = schemas['ErrorCode']!.enum as readonly (keyof typeof ERROR_STATUS)[]

  test('each code is one of the catalogue, with its status', () => {
    const table = schemas['ErrorCode']!.description!
    for (const code of codes) {
      expect(table).toContain(`| \`${code}\` | ${ERROR_STATUS[code]} |`)
    }
  })

  test('each code has exactly one example, under its status', () => {
    const given = Object.entries(operation.responses).flatMap(([status, { $ref }]) =>
      $ref === undefined || status === 'default'
        ? []
        : Object.keys(responses[nameOf($ref)]!.content['application/json']!.examples).map(
            (code) => [code, status] as const,
          ),
    )
    expect(given.map(([code]) => code).sort()).toEqual([...codes].sort())
    for (const [code, status] of given) {
      expect(status).toBe(String(ERROR_STATUS[code as keyof typeof ERROR_STATUS]))
    }
  })

  test('every response has the id of its request', () => {
    const all = [...Object.values(responses), operation.responses['202']!]
    expect(all.filter(({ headers }) => headers?.['X-Request-Id'] === undefined)).toEqual([])
  })
})

describe('examples are valid', () => {
  let app: RunningApp
  /** As a service is configured by default, some years from now. */
  let later: RunningApp
  beforeAll(async () => {
    app = await startApp()
    later = await startApp({ now: () => new Date('2034-07-01T00:00:00Z'), maxEventAgeDays: 30 })
  })
  afterAll(() => Promise.all([app.stop(), later.stop()]))

  /** Replaces the token of an example by that of the project. */
  const asOfProject = (body: unknown): string =>
    JSON.stringify(body).replaceAll('tallypub_x7k2m9q4c1v8b5n3z6t0w2r4', PROJECT.token)
  const countOf = (body: unknown): number => {
    if (Array.isArray(body)) return body.length
    const { events } = body as { readonly events?: readonly unknown[] }
    return events?.length ?? 1
  }

  const { content } = operation.requestBody
  test.each(valuesOf(content['application/json']!.examples))('%s, whenever', async (_, body) => {
    const response = await later.collect(asOfProject(body))
    expect([response.status, await response.json()]).toEqual([202, { accepted: countOf(body) }])
  })

  test.each(valuesOf(content['text/plain']!.examples))('%s', async (_, body) => {
    const text = String(body).replace('tallypub_x7k2m9q4c1v8b5n3z6t0w2r4', PROJECT.token)
    // The token of the header must be that of the body.
    const response = await later.collect(text, { headers: { 'Content-Type': 'text/plain' } })
    expect(await response.json()).toEqual({ accepted: 1 })
  })

  test.each(
    places.flatMap(([place, schema]) => {
      const [owner, field] = place.split('.')
      if (owner !== 'EventFields' || field === undefined) return []
      return (schema.examples ?? []).map((value) => [field, value] as const)
    }),
  )('%s: %j', async (field, value) => {
    expect((await app.collect({ [field]: value })).status).toBe(202)
  })

  test.each<[code: string, send: () => Promise<Response>]>([
    ['UNAUTHORIZED', () => app.collect({}, { headers: { Authorization: 'Bearer x' } })],
    ['PAYLOAD_TOO_LARGE', () => app.collect(' '.repeat(1_048_577))],
    ['UNSUPPORTED_MEDIA_TYPE', () => app.collect('', { headers: { 'Content-Type': 'a/b' } })],
    ['METHOD_NOT_ALLOWED', () => fetch(`${app.url}/v1/events`)],
    ['NOT_FOUND', () => fetch(`${app.url}/v1/event`)],
    ['VALIDATION_ERROR', () => app.collect([{ path: 1 }, {}, {}, { url: 'x' }])],
  ])('the response for %s is that of its example', async (code, send) => {
    const example = Object.values(responses)
      .flatMap((response) => valuesOf(response.content['application/json']!.examples))
      .find(([name]) => name === code)
    expect(await (await send()).json()).toEqual(example![1])
  })
})

test('a response that breaks the contract becomes INTERNAL_ERROR', async () => {
  const app = await startApp({
    collect: () => Promise.resolve({ accepted: 0, bots: 0, withoutUser: [] }),
  })
  expect((await app.collect({})).status).toBe(500)
  await app.stop()
})
