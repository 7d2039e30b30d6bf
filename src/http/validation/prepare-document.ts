/**
 * Rewrites a contract for Ajv and express-openapi-validator, which reject some constructs of OpenAPI 3.1 or report their
 * errors badly. Any construct that is not known to work is an error, so nothing else is checked than the contract says.
 *
 * | construct | rewritten to |
 * |---|---|
 * | `maxItems` beside `items` | `if maxItems then items`: a long array costs one error, not one per item |
 * | `oneOf` with a `discriminator` | `if type is x then X`: errors of the chosen branch alone |
 * | `allOf` with `unevaluatedProperties` | one closed object with all properties |
 * | a union of texts that are listed | one list: its error names them all |
 * | a property that refers to a schema with a `default` | the default beside the reference, where Ajv reads it |
 * | `propertyNames` | nothing: `validateProperties` checks the names, with one message for all |
 * | a union in `UNIONS` | the schema that the table names |
 * | an object of a response with `properties` | a closed object: later versions may add to it, this one must not |
 * | a body that is a file | nothing: it is not parsed |
 * | a `format` beside its own `pattern` | the format, which is stricter and has one message |
 */
import { FORMATS } from '../../contract/formats.js'
import { nameReferred, type SpecDocument } from '../../contract/spec.js'
import { isRecord, mapRecord } from '../../lib/records.js'

type Json = Readonly<Record<string, unknown>>
type Schemas = Readonly<Record<string, Json>>

/** The keywords that the validators take, some only after `REWRITES`. */
const KEYWORDS: ReadonlySet<string> = new Set(
  `type title description default enum const format contentMediaType pattern minimum maximum minLength maxLength
   minItems maxItems uniqueItems minProperties maxProperties required properties additionalProperties propertyNames items
   prefixItems oneOf discriminator allOf unevaluatedProperties $ref x-typescript-prefix x-streamed x-superseded-by`.split(
    /\s+/,
  ),
)

/** The keywords allowed beside `$ref`: the validators ignore all siblings but a default. */
const BESIDE_REFERENCE: ReadonlySet<string> = new Set(['$ref', 'description'])

/** The sizes of integers are for generated clients. The service checks the bounds beside them. */
const INTEGER_SIZES: ReadonlySet<unknown> = new Set(['int32', 'int64'])

/** The schemas that unions are checked by: the member that accepts all that may come, or any value. */
const UNIONS: ReadonlyMap<string, Json> = new Map([
  // The collector converts every form of a body to this one.
  ['Events', { $ref: '#/components/schemas/EventList' }],
  ['ReferrerTypeFilter.properties.value.items', { $ref: '#/components/schemas/FilterValue' }],
  ['ChannelFilter.properties.value.items', { $ref: '#/components/schemas/FilterValue' }],
  ['DeviceFilter.properties.value.items', { $ref: '#/components/schemas/FilterValue' }],
  // Later versions may add codes, this one must not.
  ['ApiError.properties.code', { $ref: '#/components/schemas/ErrorCode' }],
  [
    'OrderBy',
    {
      if: { type: 'object' },
      then: { $ref: '#/components/schemas/OrderTerm' },
      else: { $ref: '#/components/schemas/OrderPair' },
    },
  ],
  [
    'DateRange',
    {
      if: { type: 'object', required: ['last'] },
      then: { $ref: '#/components/schemas/LastUnits' },
      else: {
        oneOf: ['Preset', 'Bounds', 'BoundsPair'].map((name) => ({
          $ref: `#/components/schemas/${name}`,
        })),
      },
    },
  ],
  [
    'QueryMetric',
    {
      if: { type: 'object' },
      then: {
        if: {
          anyOf: [
            { required: ['goal'] },
            {
              required: ['metric'],
              properties: { metric: { $ref: '#/components/schemas/GoalFunction' } },
            },
          ],
        },
        then: { $ref: '#/components/schemas/GoalMetric' },
        else: { $ref: '#/components/schemas/NumericMetric' },
      },
      else: { $ref: '#/components/schemas/Metric' },
    },
  ],
  // The member that a filter has says which form it is, so that the errors are those of this form alone.
  [
    'QueryFilter',
    {
      type: 'object',
      if: { required: ['field'] },
      then: { $ref: '#/components/schemas/FieldFilter' },
      else: {
        if: { required: ['property'] },
        then: { $ref: '#/components/schemas/PropertyFilter' },
        else: { $ref: '#/components/schemas/TypedFilter' },
      },
    },
  ],
  // Each operation checks its own body.
  ['BatchQuery.properties.body', {}],
  ['BatchResult.properties.body', {}],
])

type Rewrite = (schema: Json, schemas: Schemas) => Json

/** How schemas with a keyword are rewritten, in this order. Their inner schemas have been, except those under `allOf`. */
const REWRITES: readonly (readonly [keyword: string, rewrite: Rewrite])[] = [
  ['maxItems', checkMaxItemsFirst],
  ['discriminator', splitByDiscriminator],
  ['oneOf', uniteEnums],
  ['unevaluatedProperties', mergeAllOf],
  ['properties', liftDefaults],
  ['propertyNames', ({ propertyNames: _, ...schema }) => schema],
]

/**
 * Returns a copy of the contract for the validators, without examples.
 *
 * @throws Error naming the schema and what the validators cannot take
 */
export const prepareDocument = (document: SpecDocument): Json =>
  copyNode(document, '', document.components.schemas as Schemas) as Json

/** Copies the part of a document outside schemas. `place` is the path from the root, such as `components.headers`. */
function copyNode(node: unknown, place: string, schemas: Schemas): unknown {
  if (Array.isArray(node)) return node.map((item) => copyNode(item, place, schemas))
  if (!isRecord(node)) return node
  return mapRecord(omitFile(omitExamples(node)), (key, value) => {
    const inner = place === '' ? key : `${place}.${key}`
    if (key === 'schema') return rewriteSchema(value as Json, inner, schemas)
    if (inner !== 'components.schemas') return copyNode(value, inner, schemas)
    return mapRecord(schemas, (name, schema) => rewriteSchema(schema, name, schemas))
  })
}

/** Omits the body of an operation that takes a file: nothing parses it, so there is nothing to check. */
function omitFile(node: Json): Json {
  const { requestBody, ...others } = node
  const content = isRecord(requestBody) ? requestBody['content'] : undefined
  return isRecord(content) && !('application/json' in content) ? others : node
}

const omitExamples = ({ examples: _, ...rest }: Json): Json => rest

/** @param place the path of the schema, from its name on if it has one, such as `Event.properties.url` */
function rewriteSchema(original: Json, place: string, schemas: Schemas): Json {
  const union = UNIONS.get(place)
  if (union !== undefined) return union
  const schema = omitExamples(original)
  const unsupported = findUnsupported(schema)
  if (unsupported !== undefined) throw new Error(`${place}: ${unsupported} is not supported`)
  if ('$ref' in schema) return { $ref: schema['$ref'] }
  const inner = mapRecord(restrict(schema), (key, value) =>
    rewriteKeyword(key, value, `${place}.${key}`, schemas),
  )
  return REWRITES.reduce(
    (rewritten, [keyword, rewrite]) =>
      keyword in rewritten ? rewrite(rewritten, schemas) : rewritten,
    inner,
  )
}

/** Finds what the validators cannot take in a schema. */
function findUnsupported(schema: Json): string | undefined {
  const { $ref, format = 'text' } = schema
  const allowed = $ref === undefined ? KEYWORDS : BESIDE_REFERENCE
  const keyword = Object.keys(schema).find((key) => !allowed.has(key))
  if (keyword !== undefined) return $ref === undefined ? keyword : `${keyword} beside $ref`
  if ('allOf' in schema && !('unevaluatedProperties' in schema)) return 'an open allOf'
  const isKnown = Object.hasOwn(FORMATS, String(format)) || INTEGER_SIZES.has(format)
  return isKnown ? undefined : `the format ${String(format)}`
}

/** Closes an object that lists its properties, and removes the pattern that only repeats a format, or the size of an integer. */
function restrict({ pattern, format, ...schema }: Json): Json {
  const isOpen = 'properties' in schema && !('additionalProperties' in schema)
  const isRepeated = pattern === FORMATS[String(format)]?.pattern
  return {
    ...schema,
    ...(isOpen && !('allOf' in schema) && { additionalProperties: false }),
    ...(format !== undefined && !INTEGER_SIZES.has(format) && { format }),
    ...(pattern !== undefined && !isRepeated && { pattern }),
  }
}

/** Rewrites the schemas directly inside the value of a keyword. */
function rewriteKeyword(key: string, value: unknown, place: string, schemas: Schemas): unknown {
  if (key === 'properties') {
    return mapRecord(value as Schemas, (name, schema) =>
      rewriteSchema(schema, `${place}.${name}`, schemas),
    )
  }
  if (key === 'prefixItems' || key === 'oneOf') {
    const list = value as readonly Json[]
    return list.map((schema, index) => rewriteSchema(schema, `${place}.${index}`, schemas))
  }
  const isSchema = (key === 'items' || key === 'additionalProperties') && isRecord(value)
  return isSchema ? rewriteSchema(value, place, schemas) : value
}

function checkMaxItemsFirst(schema: Json): Json {
  const { items, uniqueItems = false, ...rest } = schema
  if (items === undefined) return schema
  return { ...rest, if: { maxItems: rest['maxItems'] }, then: { items, uniqueItems } }
}

function splitByDiscriminator({ discriminator, oneOf: _, ...rest }: Json): Json {
  const { propertyName, mapping } = discriminator as {
    readonly propertyName: string
    readonly mapping: Readonly<Record<string, string>>
  }
  const allOf = Object.entries(mapping).map(([name, $ref]) => {
    const properties = { [propertyName]: { const: name } }
    return { if: { type: 'object', required: [propertyName], properties }, then: { $ref } }
  })
  return { ...rest, properties: { [propertyName]: { enum: Object.keys(mapping) } }, allOf }
}

function uniteEnums({ oneOf, ...rest }: Json, schemas: Schemas): Json {
  const members = (oneOf as readonly Json[]).map(
    (member) => findReferred(member, schemas) ?? member,
  )
  const isListed = members.every((member) => 'enum' in member)
  return isListed
    ? { ...rest, type: 'string', enum: members.flatMap((member) => member['enum']) }
    : { ...rest, oneOf }
}

function mergeAllOf({ allOf, properties }: Json, schemas: Schemas): Json {
  const inherited = (allOf as readonly Json[]).map((part) => {
    const { properties: own } = findReferred(part, schemas) ?? {}
    return rewriteKeyword('properties', own, `${nameReferred(part['$ref'])}.properties`, schemas)
  })
  return {
    type: 'object',
    properties: Object.assign({}, ...inherited, properties) as object,
    additionalProperties: false,
  }
}

function liftDefaults({ properties, ...rest }: Json, schemas: Schemas): Json {
  const lifted = mapRecord(properties as Schemas, (_, schema) => {
    const { default: value } = findReferred(schema, schemas) ?? {}
    return value === undefined ? schema : { ...schema, default: value }
  })
  return { ...rest, properties: lifted }
}

/** Returns the schema that a schema's `$ref` names; undefined if it has none. */
const findReferred = (schema: Json, schemas: Schemas): Json | undefined =>
  schemas[nameReferred(schema['$ref'])]
