/**
 * Rewrites a contract for express-openapi-validator, which rejects some constructs of OpenAPI 3.1 or reports
 * their errors badly. The contract marks every such schema with `x-validator`. Any other construct that is not
 * known to work is an error, so the validator never silently checks something else than the contract says.
 *
 * | x-validator | construct | rewritten to |
 * |---|---|---|
 * | `max-items-first` | `maxItems` beside `items` | `if maxItems then items`: a long array costs one error, not one per item |
 * | `split-by-discriminator` | `oneOf` with a `discriminator` | `if type is x then X`: errors of the chosen branch alone |
 * | `merge-all-of` | `allOf` with `unevaluatedProperties` | one closed object with all properties |
 * | `lift-defaults` | a property that refers to a schema with a `default` | the default beside the reference, where Ajv reads it |
 * | `skip-property-names` | `propertyNames` | nothing: `validateProperties` checks the names, with one message for all |
 * | `left-to-operation` | `anyOf` of the bodies of operations | nothing: the operation checks its own body |
 * | `{ replace-with: NAME }` | `oneOf` or `anyOf` | the schema NAME, which accepts every body that reaches the validator |
 *
 * Two differences need no mark. Responses are open in the documents, so that later versions can add to them; the
 * service itself must send nothing that is not documented, so here every object with properties is closed. And where
 * a format has a pattern beside it, only the format is checked: it is stricter, and has one message.
 */
import { FORMATS } from '../../contract/formats.js'
import type { SpecDocument } from '../../contract/spec.js'
import { isRecord, mapRecord } from '../../lib/records.js'
import {
  findReferred,
  findUnsupported,
  INTEGER_SIZES,
  type Json,
  type Schemas,
} from './find-unsupported.js'

interface Mark {
  /** The keywords that a marked schema must have; `rewrite` handles them. */
  readonly keywords: readonly string[]
  /** @param schema its inner schemas have been rewritten, except those under `allOf` */
  readonly rewrite: (schema: Json, schemas: Schemas) => Json
}

const MARKS: ReadonlyMap<unknown, Mark> = new Map<unknown, Mark>([
  ['max-items-first', { keywords: ['maxItems', 'items'], rewrite: checkMaxItemsFirst }],
  [
    'split-by-discriminator',
    { keywords: ['discriminator', 'oneOf'], rewrite: splitByDiscriminator },
  ],
  ['merge-all-of', { keywords: ['allOf', 'unevaluatedProperties'], rewrite: mergeAllOf }],
  ['left-to-operation', { keywords: ['anyOf'], rewrite: () => ({}) }],
  ['lift-defaults', { keywords: ['properties'], rewrite: liftDefaults }],
  [
    'skip-property-names',
    { keywords: ['propertyNames'], rewrite: ({ propertyNames: _, ...rest }) => rest },
  ],
])

/**
 * Returns a copy of the contract for the validator, without examples.
 *
 * @throws Error naming the schema and the construct that needs a mark, or the mark that does not fit
 */
export const prepareDocument = (document: SpecDocument): object =>
  copyNode(document, '', document.components.schemas as Schemas) as object

/** Copies the part of a document outside schemas. `place` is the path from the root, such as `components.headers`. */
function copyNode(node: unknown, place: string, schemas: Schemas): unknown {
  if (Array.isArray(node)) return node.map((item) => copyNode(item, place, schemas))
  if (!isRecord(node)) return node
  return mapRecord(omitExamples(node), (key, value) => {
    const inner = place === '' ? key : `${place}.${key}`
    if (key === 'schema') return rewriteSchema(value as Json, inner, schemas)
    if (inner === 'components.schemas') return rewriteAll(value as Schemas, inner, schemas)
    return copyNode(value, inner, schemas)
  })
}

const omitExamples = ({ examples: _, ...rest }: Json): Json => rest

const rewriteAll = (named: Schemas, place: string, schemas: Schemas): Json =>
  mapRecord(named, (name, schema) => rewriteSchema(schema, `${place}.${name}`, schemas))

function rewriteSchema(marked: Json, place: string, schemas: Schemas): Json {
  const { 'x-validator': name, ...schema } = omitExamples(marked)
  if (isRecord(name)) {
    const replacement = schemas[String(name['replace-with'])]
    if (replacement === undefined) throw new Error(`${place}: x-validator replaces it with nothing`)
    return rewriteSchema(replacement, place, schemas)
  }
  const mark = MARKS.get(name)
  const problem = findMisuse(schema, name) ?? findUnsupported(schema, mark?.keywords ?? [], schemas)
  if (problem !== undefined) throw new Error(`${place}: ${problem}`)
  if ('$ref' in schema) return { $ref: schema['$ref'] }
  const inner = mapRecord(restrict(schema), (key, value) =>
    rewriteKeyword(key, value, `${place}.${key}`, schemas),
  )
  return mark === undefined ? inner : mark.rewrite(inner, schemas)
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
  if (key === 'properties') return rewriteAll(value as Schemas, place, schemas)
  if (key === 'prefixItems' || key === 'oneOf') {
    const list = value as readonly Json[]
    return list.map((schema, index) => rewriteSchema(schema, `${place}.${index}`, schemas))
  }
  const isSchema = (key === 'items' || key === 'additionalProperties') && isRecord(value)
  return isSchema ? rewriteSchema(value, place, schemas) : value
}

/** Returns why a mark does not fit its schema; undefined if it does. */
function findMisuse(schema: Json, name: unknown): string | undefined {
  if (name === undefined) return undefined
  const mark = MARKS.get(name)
  if (mark === undefined) return `unknown x-validator ${JSON.stringify(name)}`
  const missing = mark.keywords.find((keyword) => !(keyword in schema))
  return missing && `x-validator ${JSON.stringify(name)} needs ${missing}`
}

function checkMaxItemsFirst({ items, uniqueItems = false, ...rest }: Json): Json {
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

function mergeAllOf({ allOf, properties }: Json, schemas: Schemas): Json {
  const inherited = (allOf as readonly Json[]).map((reference) => {
    const place = String(reference['$ref']).slice('#/'.length).replaceAll('/', '.')
    const own = findReferred(reference, schemas)?.['properties'] as Schemas
    return rewriteAll(own, `${place}.properties`, schemas)
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
