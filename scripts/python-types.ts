/** Writes the types of schemas in Python. */

/** The parts of JSON Schema that the contract uses. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly enum?: readonly string[]
  readonly oneOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly prefixItems?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean | Schema
  readonly required?: readonly string[]
}

const SIMPLE: Readonly<Record<string, string>> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
}

/**
 * Returns the type of a schema.
 * @throws Error if it has a construct that the contract did not have so far
 */
export function writeType(schema: Schema): string {
  const { $ref, oneOf, anyOf, enum: values, type } = schema
  if ($ref !== undefined) return $ref.replace('#/components/schemas/', '')
  const choices = oneOf ?? anyOf
  if (choices !== undefined) return joinTypes(choices.map(writeType))
  if (values !== undefined) return `Literal[${values.map((one) => JSON.stringify(one)).join(', ')}]`
  return joinTypes([type ?? []].flat().map((name) => writeNamed(name, schema)))
}

function writeNamed(type: string, schema: Schema): string {
  if (type === 'array') return writeArray(schema)
  if (type === 'object') return writeMap(schema)
  return SIMPLE[type] ?? fail(schema)
}

/** A pair may be written as a tuple or as a list; in an answer it is a list. */
function writeArray({ items, prefixItems }: Schema): string {
  if (items !== undefined) return `list[${writeType(items)}]`
  const types = (prefixItems ?? []).map(writeType)
  return `tuple[${types.join(', ')}] | list[${joinTypes(types)}]`
}

function writeMap(schema: Schema): string {
  const { properties, additionalProperties } = schema
  if (properties !== undefined) return fail(schema)
  if (typeof additionalProperties === 'object')
    return `dict[str, ${writeType(additionalProperties)}]`
  return 'dict[str, Any]'
}

const joinTypes = (types: readonly string[]): string =>
  types.length === 0 ? fail(types) : [...new Set(types)].join(' | ')

function fail(schema: unknown): never {
  throw new Error(
    `This schema has no Python type; name it in components, or extend this script: ${JSON.stringify(schema)}`,
  )
}
