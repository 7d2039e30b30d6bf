/** Finds constructs of a contract that express-openapi-validator cannot take as they are. */
import { FORMATS } from '../../contract/formats.js'

export type Json = Readonly<Record<string, unknown>>
export type Schemas = Readonly<Record<string, Json>>

/** The keywords that the validator handles well. */
const PLAIN_KEYWORDS: ReadonlySet<string> = new Set(
  `type title description default enum const format contentMediaType pattern minimum maximum minLength maxLength
   minItems maxItems uniqueItems minProperties maxProperties required properties additionalProperties items
   prefixItems oneOf $ref x-typescript-prefix x-streamed`.split(/\s+/),
)

/** The keywords allowed beside `$ref`: the validator ignores all siblings but a default. */
const BESIDE_REFERENCE: ReadonlySet<string> = new Set(['$ref', 'description'])

/** Returns what the validator cannot take in a schema, unless the mark handles it; undefined if it can take all. */
export function findUnsupported(
  schema: Json,
  marked: readonly string[],
  schemas: Schemas,
): string | undefined {
  const allowed = '$ref' in schema ? BESIDE_REFERENCE : PLAIN_KEYWORDS
  const unknown = Object.keys(schema).find((key) => !allowed.has(key) && !marked.includes(key))
  if (unknown !== undefined) return `${unknown} needs an x-validator mark`
  const { properties = {}, format = 'text' } = schema
  if (!Object.hasOwn(FORMATS, String(format)) && !INTEGER_SIZES.has(format)) {
    return `unknown format ${String(format)}`
  }
  if ('maxItems' in schema && 'items' in schema && !marked.includes('maxItems')) {
    return 'maxItems beside items needs an x-validator mark'
  }
  const hasDefaults = Object.values(properties as Schemas).some(
    (property) => findReferred(property, schemas)?.['default'] !== undefined,
  )
  return hasDefaults && !marked.includes('properties')
    ? 'a reference to a schema with a default needs an x-validator mark'
    : undefined
}

/** The sizes of integers are for generated clients. The service checks the bounds beside them. */
export const INTEGER_SIZES: ReadonlySet<unknown> = new Set(['int32', 'int64'])

/** Returns the schema that a schema's `$ref` names; undefined if it has none. */
export function findReferred({ $ref }: Json, schemas: Schemas): Json | undefined {
  return typeof $ref === 'string' ? schemas[$ref.slice($ref.lastIndexOf('/') + 1)] : undefined
}
