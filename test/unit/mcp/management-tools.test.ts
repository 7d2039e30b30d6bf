/** The tools of admin keys: all that reads management, with the parameters of the contract. */
import { expect, test } from '@jest/globals'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { mergeDocuments } from '../../../src/contract/merge-documents.js'
import { readSpecs } from '../../../src/contract/spec.js'
import { MANAGEMENT_OPERATIONS } from '../../../src/http/management/list.js'
import { MANAGEMENT_TOOLS } from '../../../src/http/mcp/management-tools.js'
import { chooseOperation } from '../../../src/mcp/choose-operation.js'
import { listTools } from '../../../src/mcp/list-tools.js'

const specs = readSpecs()
const tools = listTools(mergeDocuments(specs), MANAGEMENT_TOOLS)

interface Contract {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<Record<string, { readonly responses: Readonly<Record<string, object>> }>>
    >
  >
}

test('each operation that reads has a tool: its row in src/http/mcp/management-tools.ts', () => {
  const { paths } = specs.management.document as unknown as Contract
  const reads = MANAGEMENT_OPERATIONS.filter(({ method, path, checkedAs }) => {
    const success = paths[path]?.[method]?.responses['200']
    return (
      checkedAs !== undefined ||
      (method === 'get' && /"application.json"/.test(JSON.stringify(success)))
    )
  })
  expect(MANAGEMENT_TOOLS.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(
    reads.map(({ method, path }) => `${method} ${path}`).sort(),
  )
})

test('their arguments are the parameters in paths and query strings', () => {
  const schemas = Object.fromEntries(tools.map(({ name, inputSchema }) => [name, inputSchema]))
  expect(schemas['notes']).toMatchObject({ required: ['id'], additionalProperties: false })
  expect(Object.keys(schemas['notes']?.properties ?? {})).toEqual(['id', 'from', 'to'])
  expect(schemas['projects']).not.toHaveProperty('required')
  expect(schemas['usage']?.properties?.['interval']).toMatchObject({
    enum: ['day', 'month'],
    description: 'The length of a period.',
  })
})

test.each<[string, object, boolean]>([
  ['projects', { org: 'acme', limit: 10 }, true],
  ['projects', { limit: '10' }, false],
  ['project', {}, false],
  ['project', { id: 'a/b' }, false],
  ['usage', { from: '2026-01-01' }, true],
  ['usage', { from: 'yesterday' }, false],
])('%s accepts %j: %s', (name, args, isValid) => {
  const { inputSchema } = tools.find((tool) => tool.name === name)!
  expect(
    new Ajv2020({ formats: { int32: true }, strictTypes: false }).validate(inputSchema, args),
  ).toBe(isValid)
})

test.each<[string, Readonly<Record<string, unknown>>, string]>([
  ['projects', {}, '/v1/projects'],
  ['projects', { name: 'a&b c', limit: 2 }, '/v1/projects?name=a%26b+c&limit=2'],
  ['notes', { id: '../keys', from: '1' }, '/v1/projects/..%2Fkeys/notes?from=1'],
])('%s %j is a request to %s', (name, args, path) => {
  const tool = MANAGEMENT_TOOLS.find((one) => one.name === name)!
  expect(chooseOperation(tool, args)).toEqual({
    chosen: { operation: { name, path, parameters: args }, body: undefined },
  })
})

test('the list is short', () => {
  expect(Buffer.byteLength(JSON.stringify({ tools }))).toBeLessThan(40_000)
})
