/**
 * Bundles a schema of the document for generated clients into a JSON Schema (2020-12) that refers to nothing outside of itself, and
 * leaves out what JSON Schema does not know:
 *
 * | contract | here |
 * |---|---|
 * | `#/components/schemas/X` | `#/$defs/X` |
 * | `discriminator` | nothing: each branch names its `type` |
 * | a format of `FORMATS` | nothing: a pattern stands beside it |
 * | a union of the bodies of operations | an object: the arguments of another tool |
 * | `title` | nothing |
 */
import { FORMATS } from '../contract/formats.js'
import { nameReferred, type SpecDocument } from '../contract/spec.js'
import { isRecord, mapRecord } from '../lib/records.js'

type Json = Readonly<Record<string, unknown>>

/** A schema of objects. */
export interface ObjectSchema {
  readonly [keyword: string]: unknown
  readonly type: 'object'
}

const PREFIX = '#/components/schemas/'
const DROPPED: ReadonlySet<string> = new Set(['discriminator', 'title'])
const TEXTS: ReadonlySet<string> = new Set(['description', 'examples'])
const LISTS: ReadonlySet<string> = new Set(['oneOf', 'anyOf', 'allOf', 'prefixItems'])
/** How the name of a schema ends that is the body of an operation. */
const BODY = 'Request'
const INNER: ReadonlySet<string> = new Set(['items', 'additionalProperties', 'not'])

/**
 * Bundles the schema of objects with this name.
 *
 * @param described the definitions that have been described before. They are repeated without descriptions and examples; those that
 *   are described now are added
 * @throws Error if the contract has no such schema, or it is not one of objects
 */
export function bundleSchema(
  document: SpecDocument,
  name: string,
  described: Set<string>,
): ObjectSchema {
  const definitions = new Map<string, Json>()
  const define = (found: string): void => {
    if (definitions.has(found)) return
    // A schema may contain itself.
    definitions.set(found, {})
    const hasTexts = !described.has(found)
    described.add(found)
    definitions.set(found, copySchema(getSchema(document, found), hasTexts, define))
  }
  const { type, ...schema } = copySchema(getSchema(document, name), true, define)
  if (type !== 'object') throw new Error(`${name} is not a schema of objects`)
  return {
    type,
    ...schema,
    ...(definitions.size > 0 && { $defs: Object.fromEntries(definitions) }),
  }
}

/** A parameter of an operation, or a reference to one. */
export interface Parameter {
  readonly $ref?: string
  readonly name: string
  readonly in: string
  readonly description: string
  readonly required?: boolean
  readonly schema: Json
}

/**
 * Returns the schema of an object with the parameters of an operation, but those of headers.
 *
 * @throws Error if the schema of one refers to another
 */
export function bundleParameters(
  document: SpecDocument,
  parameters: readonly Parameter[],
): ObjectSchema {
  const { components } = document as unknown as ParametersDocument
  const asked = parameters
    .map((one) => (one.$ref === undefined ? one : components.parameters[nameReferred(one.$ref)]))
    .filter((one) => one !== undefined)
    .filter((one) => one.in !== 'header')
  const refuse = (name: string): never => {
    throw new Error(`a parameter refers to ${name}`)
  }
  const properties = asked.map(({ name, description, schema }) => [
    name,
    { ...copySchema(schema, true, refuse), description },
  ])
  const required = asked.filter((one) => one.required).map(({ name }) => name)
  return {
    type: 'object',
    properties: Object.fromEntries(properties) as Json,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  }
}

/** The part of a contract that has the parameters. */
interface ParametersDocument {
  readonly components: { readonly parameters: Readonly<Record<string, Parameter>> }
}

function getSchema({ components }: SpecDocument, name: string): Json {
  const schema = components.schemas[name]
  if (schema === undefined) throw new Error(`the contract has no schema ${name}`)
  return schema as Json
}

/** Copies a schema. @param define is called with the name of each schema that it refers to */
function copySchema(schema: Json, hasTexts: boolean, define: (name: string) => void): Json {
  const copy = (inner: unknown): Json => copySchema(inner as Json, hasTexts, define)
  const entries = Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
    if (DROPPED.has(key)) return []
    if (key === 'format' && Object.hasOwn(FORMATS, String(value))) return []
    if (TEXTS.has(key) && !hasTexts) return []
    if (key === '$ref') return [[key, copyReference(String(value), define)]]
    if (key === 'properties') return [[key, mapRecord(value as Json, (_, inner) => copy(inner))]]
    if (key === 'anyOf' && isBodies(value as readonly Json[])) return [['type', 'object']]
    if (LISTS.has(key)) return [[key, (value as readonly Json[]).map(copy)]]
    return [[key, INNER.has(key) && isRecord(value) ? copy(value) : value]]
  })
  return Object.fromEntries(entries)
}

const isBodies = (members: readonly Json[]): boolean =>
  members.every(({ $ref }) => String($ref).endsWith(BODY))

function copyReference(reference: string, define: (name: string) => void): string {
  const name = reference.slice(PREFIX.length)
  define(name)
  return `#/$defs/${name}`
}
