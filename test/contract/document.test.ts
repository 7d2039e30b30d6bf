/** The contract is complete: secured, exact, described, and in agreement with the catalogue of errors. */
import { expect, test } from '@jest/globals'
import { ERROR_STATUS } from '../../src/contract/errors.js'
import { examplesOf, document, operations, type Schema } from './document.js'

const { schemas } = document.components

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

test('the operations are those of the service', () => {
  expect(
    operations.map(({ method, path, operation }) => [operation.operationId, method, path]),
  ).toEqual([
    ['queryAnalytics', 'post', '/v1/analytics/query'],
    ['getProject', 'get', '/v1/project'],
  ])
})

test.each(operations)('$method $path is secured by the API key alone', ({ operation }) => {
  expect(operation.security).toEqual([{ ApiKey: [] }])
})

test.each(places)('%s has a description', (_, schema) => {
  expect(named(schema).description).toMatch(/\w/)
})

/** Objects that the example of their request or response covers. */
const COVERED_BY_EXAMPLES = new Set([
  'AnalyticsQueryRequest',
  'AnalyticsQueryResponse',
  'AnalyticsQueryResponse.query',
  'ResolvedQuery',
  'ProjectResponse',
  'ProjectResponse.project',
  'Project',
  'ErrorResponse',
  'ErrorResponse.error',
  'Error',
])

test.each(places.filter(([place]) => !COVERED_BY_EXAMPLES.has(place)))(
  '%s has an example',
  (_, schema) => {
    expect(named(schema).examples ?? []).not.toEqual([])
  },
)

test.each(places.filter(([, { properties }]) => properties !== undefined))(
  '%s refuses unknown properties',
  (_, schema) => {
    expect(schema.additionalProperties).toBe(false)
  },
)

test('the error codes are those of the catalogue', () => {
  expect([...schemas['ErrorCode']!.enum!].sort()).toEqual(Object.keys(ERROR_STATUS).sort())
})

test('each code is documented with the status of the catalogue', () => {
  const table = schemas['ErrorCode']!.description!
  for (const [code, status] of Object.entries(ERROR_STATUS)) {
    expect(table).toContain(`| \`${code}\` | ${status} |`)
  }
})

test.each(operations)('$method $path documents each error under its status', ({ operation }) => {
  for (const [status, response] of Object.entries(operation.responses)) {
    if (!/^[45]/.test(status)) continue
    const codes = examplesOf(response).map(([code]) => code as keyof typeof ERROR_STATUS)
    expect(codes.map((code) => String(ERROR_STATUS[code]))).toEqual(codes.map(() => status))
  }
})
