/** Merges the bundled schemas of the bodies of several operations into that of one tool. */
import type { ObjectSchema } from './bundle-schema.js'

type Json = Readonly<Record<string, unknown>>

/**
 * Returns a schema for the arguments of a tool that runs one of several operations: the properties of all of them, and `operation`.
 * Many clients do not know alternatives here, so it accepts more than each operation, which checks its own arguments.
 *
 * @param requests the schemas of the bodies, by the values of `operation`
 */
export function mergeRequests(requests: Readonly<Record<string, ObjectSchema>>): ObjectSchema {
  const names = Object.keys(requests)
  const schemas = Object.values(requests)
  const required = schemas.map((schema) => (schema['required'] ?? []) as readonly string[])
  const operation = {
    type: 'string',
    description: 'What is explained. The other arguments are those of the tool of this name.',
    enum: names,
    default: names[0],
  }
  return {
    type: 'object',
    additionalProperties: false,
    required:
      required[0]?.filter((name) => required.every((others) => others.includes(name))) ?? [],
    properties: { operation, ...mergeMembers(schemas, 'properties') },
    $defs: mergeMembers(schemas, '$defs'),
  }
}

/** Merges a member of all schemas. Schemas of the same name are equal; the first may be the only one with descriptions. */
const mergeMembers = (schemas: readonly ObjectSchema[], member: string): Json =>
  Object.assign({}, ...schemas.map((schema) => schema[member] as Json).reverse()) as Json
