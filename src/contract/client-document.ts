/**
 * Reduces a contract to what generated clients can type well. A client that is generated from the copy sends and reads a part of what
 * the original allows:
 *
 * | original | copy |
 * |---|---|
 * | a body in JSON and other media types | `application/json` alone |
 * | the response `default` | nothing: the errors that have a name are listed by their status |
 * | a union with an object, arrays and free texts | without the arrays and texts, which mean the same |
 * | a union with a member that only streams have (`x-streamed`), or another says better (`x-superseded-by`) | without it |
 * | a union of one member | the member |
 * | the default of an optional member | a sentence of its description: openapi-typescript takes a member with a default for a required one |
 * | headers and examples of responses | nothing |
 * | `x-…` | nothing |
 * | the description of the whole | its summary: generators copy it into every file |
 *
 * Components that nothing refers to any more are left out.
 */
import { isRecord, mapRecord } from '../lib/records.js'
import { nameReferred, type SpecDocument } from './spec.js'

type Json = Readonly<Record<string, unknown>>
type Schemas = Readonly<Record<string, Json>>

const JSON_TYPE = 'application/json'

/** Returns the copy. */
export function reduceForClients(document: SpecDocument): SpecDocument {
  const schemas = document.components.schemas as Schemas
  const reduced = reduceNode(document, schemas) as Json & { readonly info: Json }
  const info = { ...reduced.info, description: reduced.info['summary'] }
  return dropUnused({ ...reduced, info }) as unknown as SpecDocument
}

function reduceNode(node: unknown, schemas: Schemas): unknown {
  if (Array.isArray(node)) return node.map((item) => reduceNode(item, schemas))
  if (!isRecord(node)) return node
  const reduced = Object.entries(reduceUnion(node, schemas)).flatMap(([key, value]) =>
    key.startsWith('x-') ? [] : [[key, reduceMember(key, value, schemas)] as const],
  )
  return Object.fromEntries(reduced)
}

function reduceMember(key: string, value: unknown, schemas: Schemas): unknown {
  // Examples are values, not parts of the document.
  if (key === 'examples' || key === 'example' || !isRecord(value)) {
    return Array.isArray(value) && key === 'examples' ? value : reduceNode(value, schemas)
  }
  if (key === 'properties') {
    return mapRecord(value, (_, member) => reduceNode(describeDefault(member as Json), schemas))
  }
  if (key === 'content') {
    const { [JSON_TYPE]: json } = value
    return mapRecord(json === undefined ? value : { [JSON_TYPE]: json }, (_, body) =>
      reduceNode(omit(body, ['examples']), schemas),
    )
  }
  if (key === 'responses') {
    return mapRecord(omit(value, ['default']), (_, response) =>
      reduceNode(omit(response, ['headers']), schemas),
    )
  }
  return reduceNode(value, schemas)
}

/** Says in words what the default of a member is. */
function describeDefault({ default: value, ...member }: Json): Json {
  if (value === undefined) return member
  return {
    ...member,
    description: `${String(member['description'])} By default ${JSON.stringify(value)}.`,
  }
}

/** The marks of members of unions that the copy does without. */
const LEFT_OUT = ['x-streamed', 'x-superseded-by']

/** The objects that mean what no array or text means. */
const OWN_FORMS: ReadonlySet<string> = new Set(['LastUnits'])

/** Leaves out the members of a union that another member stands for. */
function reduceUnion(schema: Json, schemas: Schemas): Json {
  const { oneOf, ...rest } = schema
  if (!Array.isArray(oneOf)) return schema
  const members = oneOf as readonly Json[]
  const hasObject = members.some(
    (member) =>
      follow(member, schemas)['type'] === 'object' && !OWN_FORMS.has(nameReferred(member['$ref'])),
  )
  const kept = members.filter((member) => {
    const { type, enum: values, ...others } = follow(member, schemas)
    const isShort = type === 'array' || (type === 'string' && values === undefined)
    return !LEFT_OUT.some((mark) => mark in others) && !(hasObject && isShort)
  })
  const [only = {}] = kept
  if (kept.length === members.length) return schema
  // The examples of an array are of the members that are left out.
  const examples = (rest['examples'] as readonly unknown[]).filter((one) => !Array.isArray(one))
  if (kept.length > 1) return { ...rest, ...keepMapping(rest, kept), examples, oneOf: kept }
  return '$ref' in only ? { description: rest['description'], ...only } : { ...only, ...rest }
}

/** Returns the discriminator of a union for the members that are kept. */
function keepMapping({ discriminator }: Json, kept: readonly Json[]): Json {
  if (!isRecord(discriminator)) return {}
  const references = new Set(kept.map(({ $ref }) => $ref))
  const mapping = Object.entries(discriminator['mapping'] as Json).filter(([, reference]) =>
    references.has(reference),
  )
  return { discriminator: { ...discriminator, mapping: Object.fromEntries(mapping) } }
}

const follow = (schema: Json, schemas: Schemas): Json =>
  schemas[nameReferred(schema['$ref'])] ?? schema

function omit(node: unknown, keys: readonly string[]): Json {
  const entries = Object.entries(node as Json).filter(([key]) => !keys.includes(key))
  return Object.fromEntries(entries)
}

/** Leaves out the components that nothing refers to, and examples of whole bodies. */
function dropUnused({ components, ...document }: Json): Json {
  const kinds = omit(components, ['examples']) as Readonly<Record<string, Schemas>>
  const used = new Set<string>()
  const pending = [...listReferences(document)]
  for (let reference = pending.pop(); reference !== undefined; reference = pending.pop()) {
    if (used.has(reference)) continue
    used.add(reference)
    const [, , kind = '', name = ''] = reference.split('/')
    pending.push(...listReferences(kinds[kind]?.[name]))
  }
  const kept = mapRecord(kinds, (kind, named) =>
    Object.fromEntries(
      Object.entries(named).filter(
        ([name]) => kind === 'securitySchemes' || used.has(`#/components/${kind}/${name}`),
      ),
    ),
  )
  const isFilled = ([, named]: readonly [string, object]) => Object.keys(named).length > 0
  return { ...document, components: Object.fromEntries(Object.entries(kept).filter(isFilled)) }
}

function listReferences(node: unknown): readonly string[] {
  if (typeof node === 'string') return node.startsWith('#/components/') ? [node] : []
  return typeof node === 'object' && node !== null
    ? Object.values(node).flatMap(listReferences)
    : []
}
