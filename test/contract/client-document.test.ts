/** The document for generated clients has what they can type well, and allows nothing that the contracts refuse. */
import { expect, test } from '@jest/globals'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { reduceForClients } from '../../src/contract/client-document.js'
import { FORMATS } from '../../src/contract/formats.js'
import { mergeDocuments } from '../../src/contract/merge-documents.js'
import { readSpecs } from '../../src/contract/spec.js'
import { listNodes } from './document.js'

interface Schema {
  readonly examples?: readonly unknown[]
  readonly properties?: Readonly<Record<string, object>>
}

interface Document {
  readonly info: { readonly description: string }
  readonly paths: object
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
  }
}

const merged = mergeDocuments(readSpecs())
const whole = merged as unknown as Document
const copy = reduceForClients(merged) as unknown as Document
const nodes = listNodes(copy)

test('the description is one sentence, as generators copy it into every file', () => {
  expect(copy.info.description).toBe('Exact analytics of your traffic.')
})

test('bodies are JSON where they may be, and every response has a status', () => {
  const types = nodes.map(({ content = {} }) => Object.keys(content as object))
  const statuses = nodes.flatMap(({ responses }) =>
    Object.keys(responses ?? {}).filter((name) => !/^[A-Z]/.test(name)),
  )
  const several = types.filter((one) => one.length > 1 && one.includes('application/json'))
  expect(several).toEqual([])
  expect(statuses.filter((status) => !/^\d{3}$/.test(status))).toEqual([])
})

test('there are no extensions, and no components that nothing refers to', () => {
  expect(nodes.flatMap(Object.keys).filter((name) => name.startsWith('x-'))).toEqual([])
  const references = new Set(nodes.map(({ $ref }) => $ref))
  for (const [kind, named] of Object.entries(copy.components)) {
    if (kind === 'securitySchemes') continue
    for (const name of Object.keys(named)) {
      expect(references).toContain(`#/components/${kind}/${name}`)
    }
  }
})

test('members with several forms have the one with objects', () => {
  const { schemas } = copy.components
  const formsOf = (name: string) =>
    (schemas[name] as { readonly oneOf?: readonly { $ref?: string }[] }).oneOf?.map(
      ({ $ref = '' }) => $ref.split('/').at(-1),
    )
  expect({
    date_range: formsOf('DateRange'),
    compare: formsOf('Compare'),
    group_by: formsOf('GroupBy'),
    then_by: formsOf('ThenByField'),
    field: formsOf('ValueField'),
    events: formsOf('Events'),
    order_by: schemas['OrderBy'],
    limit: schemas['QueryLimit'],
  }).toEqual({
    date_range: ['Preset', 'Bounds', 'LastUnits'],
    compare: ['ComparedPeriod', 'Bounds'],
    group_by: ['Interval', 'Dimension', 'ClockField', 'EventProperty'],
    then_by: ['Dimension', 'ClockField', 'EventProperty'],
    field: ['Dimension', 'EventProperty', 'PropertyNames'],
    events: ['SingleEvent', 'EventList'],
    order_by: expect.objectContaining({ $ref: '#/components/schemas/OrderTerm' }),
    limit: expect.objectContaining({ type: 'integer', maximum: 1000 }),
  })
})

test('no member has a default of its own, which some generators take for required', () => {
  const members = Object.values(copy.components.schemas).flatMap(({ properties = {} }) =>
    Object.values(properties),
  )
  expect(members.filter((member) => 'default' in member)).toEqual([])
  const { Rotation } = copy.components.schemas as Readonly<Record<string, object>>
  expect(Rotation).toMatchObject({
    properties: { graceSeconds: { description: expect.stringMatching(/ By default 604800\.$/) } },
  })
})

test('every example of the copy is valid, and what the copy allows the contracts allow', () => {
  const validators = [copy, whole].map((document, index) => {
    const ajv = new Ajv2020({
      strict: false,
      validateSchema: false,
      formats: { ...FORMATS, int32: true, int64: true },
    })
    ajv.addSchema(document, String(index))
    return (name: string, value: unknown) => {
      const validate = ajv.getSchema(`${index}#/components/schemas/${name}`)!
      return validate(value) === true ? [] : [validate.errors]
    }
  })
  const errors = Object.entries(copy.components.schemas).flatMap(([name, { examples = [] }]) =>
    examples.flatMap((example) =>
      validators.flatMap((validate) =>
        validate(name, example).map((found) => ({ name, example, found })),
      ),
    ),
  )
  expect(errors).toEqual([])
})
