/** A contract that the validator cannot handle stops the start, with an error that names the place. */
import { describe, expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { readSpecs, type SpecDocument, type SpecName } from '../../src/contract/spec.js'
import { QUERY } from '../../src/analytics/operations/query.js'
import { compileContract } from '../../src/http/validation/contract.js'
import { prepareDocument } from '../../src/http/validation/prepare-document.js'
import {
  compileOperationBodies,
  createValidateBody,
} from '../../src/http/validation/validate-body.js'

const specs = readSpecs()

/** Returns a contract with some of its text replaced. */
function edited(name: SpecName, from: string, to: string): SpecDocument {
  const { yaml } = specs[name]
  expect(yaml).toContain(from)
  return parse(yaml.replace(from, to)) as SpecDocument
}

/** Compiles a contract as the service does. */
const compiled = (name: SpecName, document: SpecDocument) =>
  compileContract({ validateResponses: false }, [name], {
    ...specs,
    [name]: { yaml: specs[name].yaml, document },
  })

describe('a construct that the validators do not support', () => {
  test.each<[why: string, name: SpecName, from: string, to: string, message: string]>([
    [
      'a union that no table names',
      'openapi',
      '        body:\n          description: The body of the request that',
      '        inner:\n          description: The body of the request that',
      'BatchQuery.properties.inner: anyOf is not supported',
    ],
    [
      'a new keyword',
      'openapi',
      'uniqueItems: true\n',
      'contains: { const: users }\n',
      'Metrics: contains is not supported',
    ],
    [
      'allOf without unevaluatedProperties',
      'collector',
      '      unevaluatedProperties: false\n      examples: [{ token:',
      '      examples: [{ token:',
      'SingleEvent: an open allOf is not supported',
    ],
    [
      'an unknown format',
      'collector',
      'format: instant\n',
      'format: moment\n',
      'EventFields.properties.timestamp: the format moment is not supported',
    ],
    [
      'a keyword beside a reference',
      'openapi',
      "$ref: '#/components/schemas/DateRange'\n",
      "$ref: '#/components/schemas/DateRange'\n          maxLength: 5\n",
      'AnalyticsQueryRequest.properties.date_range: maxLength beside $ref is not supported',
    ],
  ])('%s', async (_, name, from, to, message) => {
    const document = edited(name, from, to)
    expect(() => prepareDocument(document)).toThrow(message)
    await expect(compiled(name, document)).rejects.toThrow(message)
  })
})

test.each([true, false])(
  'all operations compile; responses are checked: %s',
  async (validateResponses) => {
    await expect(compileContract({ validateResponses })).resolves.toMatchObject({ specs })
  },
)

test('the error of an invalid operation names it', async () => {
  const document = edited(
    'collector',
    String.raw`pattern: '^(\d{4}-\d{2}-\d{2}T.+)?$'` + '\n',
    "pattern: '('\n",
  )
  await expect(compiled('collector', document)).rejects.toThrow(
    'the contract of POST /v1/events cannot be compiled: ',
  )
})

describe('bodies are validated without a server', () => {
  const validate = createValidateBody(compileOperationBodies(specs.openapi.document))

  test('a query gets its defaults', () => {
    expect(validate(QUERY, { date_range: 'today', metrics: [] })).toMatchObject({
      date_range: 'today',
      metrics: ['users', 'pageviews', 'events'],
      limit: 100,
    })
  })

  test('errors of a query are those of the service', () => {
    const details = [
      { field: 'date_range', message: 'is required' },
      { field: 'limit', message: 'must be at least 1' },
    ]
    expect(() => validate(QUERY, { limit: 0 })).toThrow(
      expect.objectContaining({ code: 'VALIDATION_ERROR', details }),
    )
  })
})
