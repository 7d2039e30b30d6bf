import { expect, test } from '@jest/globals'
import { generatePythonModels } from '../../../scripts/generate-python-models.js'
import { writeType, type Schema } from '../../../scripts/python-types.js'

const reference = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })

test.each<[string, Schema]>([
  ['str', { type: 'string' }],
  ['int | None', { type: ['integer', 'null'] }],
  ['Literal["a", "b"]', { type: 'string', enum: ['a', 'b'] }],
  ['list[float]', { type: 'array', items: { type: 'number' } }],
  [
    'tuple[str, int] | list[str | int]',
    { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }] },
  ],
  ['dict[str, bool]', { type: 'object', additionalProperties: { type: 'boolean' } }],
  ['dict[str, Any] | None', { type: ['object', 'null'], additionalProperties: true }],
  ['dict[str, Any]', { type: 'object', additionalProperties: true }],
  ['One | str', { oneOf: [reference('One'), { type: 'string' }, { type: 'string' }] }],
])('%s', (type, schema) => {
  expect(writeType(schema)).toBe(type)
})

test.each<[string, Schema]>([
  ['without a type', {}],
  ['of another type', { type: 'date' }],
  ['with members, but without a name', { type: 'object', properties: { a: { type: 'string' } } }],
])('a schema %s is refused', (_, schema) => {
  expect(() => writeType(schema)).toThrow('This schema has no Python type')
})

test('schemas that /v1 uses become classes and aliases, each alias below what it names', () => {
  const contract = {
    paths: {
      '/v1/a': { post: { content: { 'application/json': { schema: reference('Wish') } } } },
      '/b': { get: { content: { 'application/json': { schema: reference('Unused') } } } },
    },
    components: {
      schemas: {
        Wish: {
          type: 'object',
          description: 'A "wish" \\ """more"""',
          required: ['what'],
          properties: {
            what: reference('What'),
            why: { type: 'string', description: 'Two\nlines.' },
          },
        },
        What: { oneOf: [reference('Thing'), reference('Span')] },
        Thing: { type: 'string', enum: ['thing'] },
        Span: { type: 'object', required: ['from'], properties: { from: { type: 'string' } } },
        Unused: { type: 'string' },
        ErrorResponse: { type: 'object', additionalProperties: true },
      },
    },
  }
  const [, ...definitions] = generatePythonModels(contract).split('\n\n\n')
  expect(definitions.join('\n\n\n')).toBe(`class Wish(TypedDict):
    """A "wish" \\\\ \\"""more\\"""
    """

    what: "What"
    why: NotRequired[str]
    """Two
    lines.
    """


Thing: TypeAlias = Literal["thing"]


Span = TypedDict(
    "Span",
    {
        "from": str,
    },
)


What: TypeAlias = Thing | Span


ErrorResponse: TypeAlias = dict[str, Any]
`)
})

test('what an answer has because it was requested can be read without a check', () => {
  const contract = {
    paths: {
      '/v1/a': { get: { content: { 'application/json': { schema: reference('MetricValues') } } } },
    },
    components: {
      schemas: {
        MetricValues: { type: 'object', properties: { users: { type: 'integer' } } },
        ErrorResponse: { type: 'object', additionalProperties: true },
      },
    },
  }
  expect(generatePythonModels(contract)).toContain(
    'class MetricValues(TypedDict):\n\n    users: int\n',
  )
})

test('events are written without what says whose they are, which the client knows', () => {
  const contract = {
    paths: { '/v1/events': { post: {} } },
    components: {
      schemas: {
        EventFields: {
          type: 'object',
          properties: { name: { type: 'string' }, user_id: { type: 'string' } },
        },
        Accepted: {
          type: 'object',
          required: ['accepted'],
          properties: { accepted: { type: 'integer' } },
        },
        ErrorResponse: { type: 'object', additionalProperties: true },
      },
    },
  }
  const [, ...definitions] = generatePythonModels(contract).split('\n\n\n')
  expect(definitions.map((one) => one.trim())).toEqual([
    'class EventFields(TypedDict):\n\n    name: NotRequired[str]',
    'class Accepted(TypedDict):\n\n    accepted: int',
    'ErrorResponse: TypeAlias = dict[str, Any]',
  ])
})
