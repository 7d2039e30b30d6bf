/** The tools are the operations of the contract: their schemas are the same, and stand alone. */
import { describe, expect, test } from '@jest/globals'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv'
import { Ajv2020, type AnySchemaObject, type ValidateFunction } from 'ajv/dist/2020.js'
import { OPERATIONS } from '../../../src/analytics/operations/list.js'
import { reduceForClients } from '../../../src/contract/client-document.js'
import { FORMATS } from '../../../src/contract/formats.js'
import { readSpec } from '../../../src/contract/spec.js'
import { chooseTools } from '../../../src/http/mcp/tools.js'
import { listTools } from '../../../src/mcp/list-tools.js'

type Json = Readonly<Record<string, unknown>>

const { document } = readSpec('openapi')
/** The document for generated clients, whose schemas tools have. */
const contract = reduceForClients(document) as unknown as {
  readonly components: { readonly schemas: Readonly<Record<string, Json>> }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}
interface Content {
  readonly content: { readonly 'application/json': { readonly schema: { readonly $ref: string } } }
}
interface Operation {
  readonly summary: string
  readonly description: string
  readonly requestBody?: Content
}

const TOOLS = chooseTools(true)
const tools = listTools(document, TOOLS)
const definitions = TOOLS.map(({ name, method, path }) => ({
  name,
  operation: contract.paths[path]![method]!,
  tool: tools.find((tool) => tool.name === name)!,
}))

test('one tool for each operation that asks about the project', () => {
  const hinted = OPERATIONS.filter(({ hint }) => hint !== undefined).map(({ name }) => name)
  expect(tools.map(({ name }) => name)).toEqual(['project', ...hinted, 'batch', 'explain'])
  expect(definitions.map(({ operation }) => operation.summary)).toEqual(
    tools.map(({ title }) => title),
  )
  for (const { operation, tool } of definitions) {
    expect(tool.description).toContain(`\n\n${operation.description}`)
    expect(tool.annotations).toEqual({
      title: operation.summary,
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    })
  }
})

const DROPPED = ['title', 'description', 'examples', 'discriminator']
type Find = (reference: string) => unknown

/** Replaces references by what they refer to, except in a schema that contains itself, and drops texts. */
function expand(schema: Json, find: Find, within: readonly string[] = []): Json {
  const { $ref, ...rest } = schema
  const inner = (one: unknown): unknown =>
    typeof one === 'object' && one !== null ? expand(one as Json, find, within) : one
  const own = Object.entries(rest)
    .filter(([key]) => !DROPPED.includes(key))
    .filter(([key, value]) => !(key === 'format' && String(value) in FORMATS))
    .map(([key, value]) => {
      // The bodies of the queries of a batch are the arguments of other tools.
      if (key === 'anyOf' && JSON.stringify(value).includes('ValuesRequest'))
        return ['type', 'object']
      if (['oneOf', 'anyOf', 'prefixItems'].includes(key))
        return [key, (value as Json[]).map(inner)]
      if (['items', 'additionalProperties', 'not'].includes(key)) return [key, inner(value)]
      if (key !== 'properties') return [key, value]
      const properties = Object.entries(value as Json)
      return [key, Object.fromEntries(properties.map(([name, one]) => [name, inner(one)]))]
    })
  const expanded = Object.fromEntries(own) as Json
  if (typeof $ref !== 'string') return expanded
  const name = $ref.split('/').at(-1)!
  if (within.includes(name)) return { ...expanded, contained: name }
  return { ...expanded, ...expand(find($ref) as Json, find, [...within, name]) }
}

const ofContract = (schema: Json): unknown =>
  expand(schema, (reference) => contract.components.schemas[reference.split('/').at(-1)!])
const ofTool = ({ $defs, ...schema }: Json): unknown =>
  expand(schema, (reference) => ($defs as Json)[reference.slice('#/$defs/'.length)])

const strict = new Ajv2020({ formats: { int32: true, int64: true }, strictTypes: false })

/** Returns the schema of a body, and its examples. */
function readBody({ content }: Content): { readonly schema: Json; readonly examples: Json[] } {
  const { schema } = content['application/json']
  const { examples } = contract.components.schemas[schema.$ref.split('/').at(-1)!]!
  return { schema, examples: examples as Json[] }
}

/** Compiles a schema, and checks that it accepts some examples. */
function check(schema: AnySchemaObject, examples: readonly unknown[]): ValidateFunction {
  const validate = strict.compile(schema)
  // The validator of the protocol's own clients, which knows another version of JSON Schema.
  const lenient = new AjvJsonSchemaValidator().getValidator(schema)
  for (const example of examples) {
    expect([validate(example), validate.errors]).toEqual([true, null])
    expect(lenient(example)).toMatchObject({ valid: true })
  }
  return validate
}

describe.each(definitions.filter(({ name }) => name !== 'explain'))(
  '$name',
  ({ operation: { requestBody }, tool }) => {
    const { schema, examples } =
      requestBody === undefined
        ? {
            schema: { type: 'object', properties: {}, additionalProperties: false },
            examples: [{}],
          }
        : readBody(requestBody)

    test('its schema is that of the document for generated clients', () => {
      expect(ofTool(tool.inputSchema)).toEqual(ofContract(schema))
    })

    test('it compiles as it is, and accepts the examples of the contract', () => {
      const accepts = check(tool.inputSchema, examples)
      for (const body of [[], { date_range: 'today', unknown: 1 }])
        expect(accepts(body)).toBe(false)
      expect(accepts({ date_range: 'today', filters: [{ type: 'unknown' }] })).toBe(false)
    })
  },
)

test('no tool has a schema of its results', () => {
  expect(tools.filter((tool) => 'outputSchema' in tool)).toEqual([])
})

test.each(['query', 'explain'])('%s offers no rows as a stream: tools answer in JSON', (name) => {
  const { inputSchema } = tools.find((tool) => tool.name === name)!
  const accepts = strict.compile(inputSchema)
  const asked = { date_range: 'today' }
  expect([1_000, 'all'].map((limit) => accepts({ ...asked, limit }))).toEqual([true, false])
  expect(JSON.stringify(inputSchema)).not.toMatch(/all rows|1,000,000/i)
})

test('explain accepts the examples of each operation, and has the arguments of all', () => {
  const { inputSchema } = tools.at(-1)!
  const paths = Object.entries(TOOLS.at(-1)!.choices!)
  for (const [operation, { path }] of paths) {
    const bodies = readBody(contract.paths[path]!['post']!.requestBody!).examples
    const accepts = check(inputSchema, [
      ...bodies.map((body) => ({ ...body, operation })),
      ...(operation === 'query' ? bodies : []),
    ])
    for (const body of [
      {},
      { date_range: 'today', operation: 'batch' },
      { date_range: 'today', unknown: 1 },
    ]) {
      expect(accepts(body)).toBe(false)
    }
  }
  const merged = ofTool(inputSchema) as { readonly properties: Json; readonly required: unknown }
  const bodies = paths.map(([, { path }]) => {
    const { schema } = readBody(contract.paths[path]!['post']!.requestBody!)
    return (ofContract(schema) as { readonly properties: Json }).properties
  })
  const { operation, ...properties } = merged.properties
  expect(operation).toEqual({ type: 'string', enum: paths.map(([name]) => name), default: 'query' })
  expect(merged.required).toEqual(['date_range'])
  expect(Object.keys(properties).sort()).toEqual([...new Set(bodies.flatMap(Object.keys))].sort())
  for (const body of bodies) expect(properties).toMatchObject(body)
})

test('a definition is described once: in the first tool that has it', () => {
  const texts = JSON.stringify(tools).match(/"At most \d+ deep|A condition on one event, in/g) ?? []
  expect(texts).toHaveLength(1)
  const [, query, values] = tools
  expect(JSON.stringify(query?.inputSchema)).toContain('A period relative to now.')
  expect(JSON.stringify(values?.inputSchema)).not.toContain('A period relative to now.')
  // What a tool alone has stays described.
  expect(JSON.stringify(values?.inputSchema)).toContain('Only values that contain this text')
})

test('the list of tools fits in the context of a model, and has plans only on request', () => {
  const offered = listTools(document, chooseTools(false))
  expect(offered.map(({ name }) => name)).not.toContain('explain')
  expect(Buffer.byteLength(JSON.stringify({ tools: offered }))).toBeLessThan(80_000)
})
