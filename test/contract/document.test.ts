/** The contract is complete: secured, exact, described, and in agreement with the catalogue of errors. */
import { expect, test } from '@jest/globals'
import { ERROR_STATUS } from '../../src/contract/errors.js'
import { FORMATS } from '../../src/contract/formats.js'
import { readSpecs } from '../../src/contract/spec.js'
import { ENDPOINTS } from '../../src/http/query/endpoints.js'
import {
  deref,
  examplesOf,
  document,
  listNodes,
  listSchemas,
  operations,
  type Schema,
} from './document.js'

const { schemas } = document.components
const management = readSpecs().management.document.components

/** Every schema that is a component or a property of one, with its place. */
const places: readonly (readonly [string, Schema])[] = Object.entries(schemas).flatMap(
  ([name, schema]) => [
    [name, schema] as const,
    ...Object.entries(schema.properties ?? {}).map(
      ([property, inner]) => [`${name}.${property}`, inner] as const,
    ),
  ],
)

/** Resolves a reference; members beside it take precedence. */
const named = ({ $ref, ...schema }: Schema): Schema => ({
  ...(schemas[$ref?.split('/').at(-1) ?? ''] ?? {}),
  ...schema,
})

/** The operations of the service that are no endpoints of one project. */
const OTHERS = [
  'post /v1/analytics/batch',
  'post /v1/analytics/projects',
  'get /livez',
  'get /readyz',
  'get /openapi.json',
  'get /openapi-client.json',
  'get /openapi-all.json',
  'get /openapi-3.0.json',
  'get /openapi-all-3.0.json',
]

test('the operations are those of the service', () => {
  const served = ENDPOINTS.map(({ method, path }) => `${method} ${path}`)
  const described = operations.map(({ method, path }) => `${method} ${path}`)
  expect(described.sort()).toEqual([...served, ...OTHERS].sort())
})

test('each operation has an id of its own, which names the method of a client', () => {
  const ids = operations.map(({ operation }) => operation.operationId)
  expect(ids.filter((id) => !/^(query|list|explain|export|get)[A-Z]\w*$/.test(id))).toEqual([])
  expect(new Set(ids).size).toBe(ids.length)
})

test('operations are secured by the API key of the project, or an admin key for several, others by nothing', () => {
  for (const { method, path, operation } of operations) {
    const key = path === '/v1/analytics/projects' ? { AdminKey: [] } : { ApiKey: [] }
    const security = path.startsWith('/v1/') ? [key] : []
    expect([method, path, operation.security]).toEqual([method, path, security])
  }
})

test('an operation takes If-None-Match if its responses have an ETag', () => {
  for (const { method, path, operation } of operations) {
    const { parameters = [], responses } = operation
    const hasTag = Object.values(responses).some((one) => 'ETag' in (deref(one).headers ?? {}))
    const names = parameters.map((one) => `${deref(one).in} ${deref(one).name}`)
    expect([method, path, names]).toEqual([method, path, hasTag ? ['header If-None-Match'] : []])
  }
})

/** Names the places whose schema breaks a rule. */
const listPlaces = (breaks: (schema: Schema, place: string) => boolean): readonly string[] =>
  places.filter(([place, schema]) => breaks(schema, place)).map(([place]) => place)

test('every schema has a description', () => {
  expect(listPlaces((schema) => !/\w/.test(named(schema).description ?? ''))).toEqual([])
})

test('every schema has an example', () => {
  expect(listPlaces((schema) => (named(schema).examples ?? []).length === 0)).toEqual([])
})

/** The schemas that requests consist of. Responses repeat some of them. */
const REQUESTS = listSchemas(operations.map(({ operation }) => operation.requestBody))

test('schemas of requests refuse unknown properties, those of responses allow them', () => {
  const wrong = listPlaces(
    ({ properties, additionalProperties = true }, place) =>
      properties !== undefined &&
      (additionalProperties !== false) === REQUESTS.has(place.split('.')[0] ?? ''),
  )
  expect(wrong).toEqual([])
})

const documents = Object.entries(readSpecs()).map(
  ([name, { document }]) => [name, document] as const,
)

test.each(documents)('every schema of %s has a title', (_, { components }) => {
  const untitled = Object.entries(components.schemas).filter(([, schema]) => !('title' in schema))
  expect(untitled.map(([name]) => name)).toEqual([])
})

test.each(documents)('a format of %s has its pattern beside it', (_, contract) => {
  const formats = listNodes(contract).filter(
    ({ type, format }) => type !== undefined && FORMATS[String(format)] !== undefined,
  )
  expect(formats.length).toBeGreaterThan(2)
  for (const { format, pattern, 'x-typescript-prefix': prefix } of formats) {
    if (prefix === undefined) expect(pattern).toBe(FORMATS[String(format)]!.pattern)
    else expect(pattern).toMatch(prefix as string)
  }
})

test.each(documents)('no construct of %s is one that generators stumble over', (_, contract) => {
  for (const node of listNodes(contract)) {
    // Tuples are closed by `maxItems`, and constants are enums of one value.
    if ('prefixItems' in node) {
      const { length } = node['prefixItems'] as readonly unknown[]
      expect([node['items'], node['maxItems']]).toEqual([undefined, length])
    }
    expect(node).not.toHaveProperty('const')
    if (node['type'] === 'integer' && 'format' in node) expect(node).toHaveProperty('maximum')
  }
})

test('the error codes are those of the catalogue', () => {
  const codes = [schemas, management.schemas].flatMap((one) => one['ErrorCode']?.enum ?? [])
  expect([...new Set(codes)].sort()).toEqual(Object.keys(ERROR_STATUS).sort())
})

test('each code is documented with the status of the catalogue', () => {
  const tables = [schemas, management.schemas].map(
    (one) => (one['ErrorCode'] as Schema).description,
  )
  for (const [code, status] of Object.entries(ERROR_STATUS)) {
    expect(tables.join('\n')).toContain(`| \`${code}\` | ${status} |`)
  }
})

test('each error is documented under its status', () => {
  for (const { method, path, operation } of operations) {
    for (const [status, response] of Object.entries(operation.responses)) {
      if (status === 'default' || !/^[45]/.test(status)) continue
      const codes = examplesOf(response).map(([code]) => code as keyof typeof ERROR_STATUS)
      const found = codes.map((code) => String(ERROR_STATUS[code]))
      expect([method, path, found]).toEqual([method, path, codes.map(() => status)])
    }
  }
})
