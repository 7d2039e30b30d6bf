/**
 * Rewrites a contract for express-openapi-validator, which rejects some constructs of OpenAPI 3.1 or reports
 * their errors badly. The contract marks every such schema with `x-validator`; any other construct that is not
 * known to work is an error, so that the validator never silently checks something else than the contract says.
 *
 * | x-validator | construct | the validator gets |
 * |---|---|---|
 * | `max-items-first` | `maxItems` beside `items` | `if maxItems then items`: a long array costs one error, not one per item |
 * | `split-by-discriminator` | `oneOf` with a `discriminator` | `if type is x then X`: errors of the chosen branch alone |
 * | `merge-all-of` | `allOf` with `unevaluatedProperties` | one closed object with all properties |
 * | `lift-defaults` | a property that refers to a schema with a `default` | the default beside the reference, where Ajv reads it |
 * | `skip-property-names` | `propertyNames` | nothing: code checks the names, with one message for all of them |
 * | `{ replace-with: NAME }` | `oneOf` or `anyOf` | the schema NAME, which is all that the code behind accepts |
 */
import { FORMATS } from '../../contract/formats.js'
import type { SpecDocument } from '../../contract/spec.js'

type Json = Readonly<Record<string, unknown>>
type Schemas = Readonly<Record<string, Json>>

/** The keywords that are passed on as they are. */
const PLAIN_KEYWORDS: ReadonlySet<string> = new Set(
  `type title description default enum const format contentMediaType pattern minimum maximum minLength maxLength
   minItems maxItems uniqueItems minProperties maxProperties required properties additionalProperties items
   prefixItems oneOf $ref x-typescript-prefix`.split(/\s+/),
)

/** The keywords that may stand beside `$ref`; the validator ignores all siblings but a default. */
const BESIDE_REFERENCE: ReadonlySet<string> = new Set(['$ref', 'description'])

interface Mark {
  /** The keywords that a marked schema must have; they are handled by `rewrite`. */
  readonly keywords: readonly string[]
  /** @param schema has its inner schemas rewritten, but for those under `allOf` */
  readonly rewrite: (schema: Json, schemas: Schemas) => Json
}

const MARKS: Readonly<Record<string, Mark>> = {
  'max-items-first': { keywords: ['maxItems', 'items'], rewrite: checkMaxItemsFirst },
  'split-by-discriminator': {
    keywords: ['discriminator', 'oneOf'],
    rewrite: splitByDiscriminator,
  },
  'merge-all-of': { keywords: ['allOf', 'unevaluatedProperties'], rewrite: mergeAllOf },
  'lift-defaults': { keywords: ['properties'], rewrite: liftDefaults },
  'skip-property-names': {
    keywords: ['propertyNames'],
    rewrite: ({ propertyNames: _, ...rest }) => rest,
  },
}

/**
 * A copy of the contract for the validator, without examples.
 *
 * @throws Error naming the schema and the construct, if the validator cannot take it and no mark says how
 */
export function prepareDocument(document: SpecDocument): object {
  return copyNode(document, '', document.components.schemas as unknown as Schemas) as object
}

/** Copies the part of a document around schemas. */
function copyNode(node: unknown, place: string, schemas: Schemas): unknown {
  if (Array.isArray(node)) return node.map((item) => copyNode(item, place, schemas))
  if (!isObject(node)) return node
  const entries = Object.entries(node).flatMap(([key, value]): [string, unknown][] => {
    const inner = place === '' ? key : `${place}.${key}`
    if (key === 'examples') return []
    if (key === 'schema') return [[key, rewriteSchema(value as Json, inner, schemas)]]
    if (inner === 'components.schemas') return [[key, rewriteAll(value as Schemas, inner, schemas)]]
    return [[key, copyNode(value, inner, schemas)]]
  })
  return Object.fromEntries(entries)
}

const rewriteAll = (some: Schemas, place: string, schemas: Schemas): Json =>
  Object.fromEntries(
    Object.entries(some).map(([name, schema]) => [
      name,
      rewriteSchema(schema, `${place}.${name}`, schemas),
    ]),
  )

function rewriteSchema(marked: Json, place: string, schemas: Schemas): Json {
  const { 'x-validator': name, ...schema } = omitExamples(marked)
  if (isObject(name)) return replace(name, place, schemas)
  const mark = typeof name === 'string' ? MARKS[name] : undefined
  if (name !== undefined && mark === undefined) {
    throw new Error(`${place}: unknown x-validator ${JSON.stringify(name)}`)
  }
  const missing = mark?.keywords.find((keyword) => !(keyword in schema))
  if (missing !== undefined)
    throw new Error(`${place}: x-validator ${JSON.stringify(name)} needs ${missing}`)
  const problem = findProblem(schema, mark?.keywords ?? [], schemas)
  if (problem !== undefined) throw new Error(`${place}: ${problem}`)
  const inner = rewriteInner(schema, place, schemas)
  if ('$ref' in inner) return { $ref: inner['$ref'] }
  return mark === undefined ? inner : mark.rewrite(inner, schemas)
}

const omitExamples = ({ examples: _, ...schema }: Json): Json => schema

function replace(mark: Json, place: string, schemas: Schemas): Json {
  const replacement = schemas[String(mark['replace-with'])]
  if (replacement === undefined) throw new Error(`${place}: x-validator replaces it with nothing`)
  return rewriteSchema(replacement, place, schemas)
}

/** Why the validator cannot take a schema as it stands; undefined if it can. */
function findProblem(
  schema: Json,
  marked: readonly string[],
  schemas: Schemas,
): string | undefined {
  const allowed = '$ref' in schema ? BESIDE_REFERENCE : PLAIN_KEYWORDS
  const unknown = Object.keys(schema).find((key) => !allowed.has(key) && !marked.includes(key))
  if (unknown !== undefined) return `${unknown} needs an x-validator mark`
  const { properties = {}, format = 'text' } = schema
  if (!Object.hasOwn(FORMATS, String(format))) return `unknown format ${String(format)}`
  if ('maxItems' in schema && 'items' in schema && !marked.includes('maxItems')) {
    return 'maxItems beside items needs an x-validator mark'
  }
  const hasDefaults = Object.values(properties as Schemas).some(
    (property) => findDefault(property, schemas) !== undefined,
  )
  return hasDefaults && !marked.includes('properties')
    ? 'a reference to a schema with a default needs an x-validator mark'
    : undefined
}

/** Rewrites the schemas directly inside a schema. */
function rewriteInner(schema: Json, place: string, schemas: Schemas): Json {
  const entries = Object.entries(schema).map(([key, value]): [string, unknown] => {
    const inner = `${place}.${key}`
    if (key === 'properties') return [key, rewriteAll(value as Schemas, inner, schemas)]
    if (key === 'prefixItems' || key === 'oneOf') {
      const list = value as readonly Json[]
      return [key, list.map((one, index) => rewriteSchema(one, `${inner}.${index}`, schemas))]
    }
    const isSchema = (key === 'items' || key === 'additionalProperties') && isObject(value)
    return [key, isSchema ? rewriteSchema(value, inner, schemas) : value]
  })
  return Object.fromEntries(entries)
}

function checkMaxItemsFirst({ items, uniqueItems = false, ...rest }: Json): Json {
  return { ...rest, if: { maxItems: rest['maxItems'] }, then: { items, uniqueItems } }
}

function splitByDiscriminator({ discriminator, oneOf: _, ...rest }: Json): Json {
  const { propertyName, mapping } = discriminator as {
    readonly propertyName: string
    readonly mapping: Readonly<Record<string, string>>
  }
  return {
    ...rest,
    properties: { [propertyName]: { enum: Object.keys(mapping) } },
    allOf: Object.entries(mapping).map(([name, $ref]) => ({
      if: {
        type: 'object',
        required: [propertyName],
        properties: { [propertyName]: { const: name } },
      },
      then: { $ref },
    })),
  }
}

function mergeAllOf({ allOf, properties }: Json, schemas: Schemas): Json {
  const inherited = (allOf as readonly Json[]).map((reference) => {
    const { properties: own } = findReferred(reference, schemas) ?? {}
    const place = String(reference['$ref']).slice('#/'.length).replaceAll('/', '.')
    return rewriteAll(own as Schemas, `${place}.properties`, schemas)
  })
  return {
    type: 'object',
    properties: Object.assign({}, ...inherited, properties) as object,
    additionalProperties: false,
  }
}

function liftDefaults({ properties, ...rest }: Json, schemas: Schemas): Json {
  const lifted = Object.entries(properties as Schemas).map(([name, schema]) => {
    const value = findDefault(schema, schemas)
    return [name, value === undefined ? schema : { ...schema, default: value }] as const
  })
  return { ...rest, properties: Object.fromEntries(lifted) }
}

/** The default of the schema that a reference points to. */
const findDefault = (schema: unknown, schemas: Schemas): unknown =>
  isObject(schema) && '$ref' in schema ? findReferred(schema, schemas)?.['default'] : undefined

function findReferred({ $ref }: Json, schemas: Schemas): Json | undefined {
  const reference = String($ref)
  return schemas[reference.slice(reference.lastIndexOf('/') + 1)]
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
