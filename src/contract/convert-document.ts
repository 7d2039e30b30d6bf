/**
 * Converts a contract to OpenAPI 3.0.3, for tools that do not know 3.1. The copy is mechanical and accepts every request
 * and response of the original. Where 3.0 cannot say something, it says less:
 *
 * | 3.1 | 3.0.3 |
 * |---|---|
 * | `type: [x, 'null']` | `type: x` with `nullable` |
 * | `oneOf` references and `type: 'null'` | what the last one refers to is `nullable`; if it is the only one, there is no union |
 * | `examples` of a schema | `example`, the first of them |
 * | a tuple (`prefixItems`) | an array whose items are a union, of the same length |
 * | `anyOf` some strings and a string | the latter |
 * | keywords beside `$ref` | nothing |
 * | `allOf` with `unevaluatedProperties: false` | one closed object with all properties |
 * | `const` | an `enum` of one value |
 * | `propertyNames`, `contentMediaType`, `x-…` of a schema | nothing |
 */
import { isRecord, mapRecord } from '../lib/records.js'
import { nameReferred, type SpecDocument } from './spec.js'

type Json = Readonly<Record<string, unknown>>
type Schemas = Readonly<Record<string, Json>>

/** Returns the copy. */
export function convertToOpenApi30(document: SpecDocument): SpecDocument {
  const schemas = document.components.schemas as Schemas
  const { info, ...rest } = convertNode(document, '', schemas) as Json
  const converted = { ...rest, openapi: '3.0.3', info: convertInfo(info as Json) }
  return converted as unknown as SpecDocument
}

/** The summary and the identifier of a license are new in 3.1. */
function convertInfo({ summary: _, license, ...info }: Json): Json {
  const { name, identifier } = license as Json
  const url = `https://spdx.org/licenses/${String(identifier)}.html`
  return { ...info, license: { name, url } }
}

/** Copies the part of a document outside schemas. `place` is the path from the root, such as `components.headers`. */
function convertNode(node: unknown, place: string, schemas: Schemas): unknown {
  if (Array.isArray(node)) return node.map((item) => convertNode(item, place, schemas))
  if (!isRecord(node)) return node
  if (typeof node['$ref'] === 'string') return { $ref: node['$ref'] }
  return mapRecord(node, (key, value) => {
    const inner = place === '' ? key : `${place}.${key}`
    if (key === 'schema') return convertSchema(value as Json, schemas)
    if (inner === 'components.schemas') return convertAll(value as Schemas, schemas)
    return key === 'example' || key === 'value' ? value : convertNode(value, inner, schemas)
  })
}

const convertAll = (named: Schemas, schemas: Schemas): Json =>
  mapRecord(named, (_, schema) => convertSchema(schema, schemas))

/** Keywords that 3.0 does not have, and that `convertSchema` does not replace. */
const DROPPED: ReadonlySet<string> = new Set(['propertyNames', 'contentMediaType'])

/** Keywords whose value is one schema. */
const SCHEMA_KEYWORDS: ReadonlySet<string> = new Set(['items', 'additionalProperties', 'not'])

function convertSchema(schema: Json, schemas: Schemas): Json {
  if (typeof schema['$ref'] === 'string') return { $ref: schema['$ref'] }
  if (isOrNull(schema)) return convertOrNull(schema, schemas)
  if ('unevaluatedProperties' in schema) return convertSchema(mergeAllOf(schema, schemas), schemas)
  const entries = Object.entries(schema).flatMap(([key, value]) =>
    key.startsWith('x-') || DROPPED.has(key) ? [] : convertKeyword(key, value, schemas),
  )
  const { anyOf = [], ...converted } = Object.fromEntries(entries) as Json
  const wide = (anyOf as readonly Json[]).find((part) => isFreeString(part, schemas))
  if (wide === undefined) return Object.fromEntries(entries)
  return '$ref' in wide ? wide : { ...wide, ...converted }
}

const isNull = ({ type }: Json): boolean => type === 'null'

const isOrNull = ({ oneOf = [] }: Json): boolean => (oneOf as readonly Json[]).some(isNull)

/** Converts a union with `null`: null matches exactly one of its members. */
function convertOrNull({ oneOf, ...rest }: Json, schemas: Schemas): Json {
  const others = (oneOf as readonly Json[]).filter((member) => !isNull(member))
  const last = others.at(-1) ?? {}
  const referred = schemas[nameReferred(last['$ref'])] ?? last
  const nullable = { ...convertSchema(referred, schemas), nullable: true }
  if (others.length === 1) return { ...nullable, ...convertSchema(rest, schemas) }
  return {
    ...convertSchema(rest, schemas),
    oneOf: [...others.slice(0, -1).map((member) => convertSchema(member, schemas)), nullable],
  }
}

/** Returns what stands for a keyword: its entries in the copy. */
function convertKeyword(
  key: string,
  value: unknown,
  schemas: Schemas,
): readonly (readonly [string, unknown])[] {
  const convertList = (list: unknown): readonly Json[] =>
    (list as readonly Json[]).map((inner) => convertSchema(inner, schemas))
  if (key === 'examples') return [['example', (value as readonly unknown[])[0]]]
  if (key === 'const') return [['enum', [value]]]
  if (key === 'type' && Array.isArray(value)) {
    const [type] = value.filter((name) => name !== 'null') as readonly unknown[]
    return [
      ['type', type],
      ['nullable', true],
    ]
  }
  if (key === 'prefixItems') return [['items', uniteItems(convertList(value), schemas)]]
  if (key === 'properties') return [[key, convertAll(value as Schemas, schemas)]]
  if (key === 'oneOf' || key === 'anyOf' || key === 'allOf') return [[key, convertList(value)]]
  if (SCHEMA_KEYWORDS.has(key) && isRecord(value)) return [[key, convertSchema(value, schemas)]]
  return [[key, value]]
}

/** Returns a schema for every item of a tuple. */
function uniteItems(items: readonly Json[], schemas: Schemas): Json {
  const distinct = [...new Map(items.map((item) => [JSON.stringify(item), item])).values()]
  const [first = {}] = distinct
  if (distinct.length === 1) return first
  return distinct.find((item) => isFreeString(item, schemas)) ?? { anyOf: distinct }
}

/** Whether a schema accepts more strings than a list of them. */
function isFreeString(schema: Json, schemas: Schemas): boolean {
  const { type, enum: values } = schemas[nameReferred(schema['$ref'])] ?? schema
  return type === 'string' && values === undefined
}

/** Merges the properties of all parts of a closed object into one. */
function mergeAllOf(schema: Json, schemas: Schemas): Json {
  const { allOf = [], properties = {}, unevaluatedProperties, ...rest } = schema
  const parts = (allOf as readonly Json[]).map(
    ({ $ref }) => schemas[nameReferred($ref)]?.['properties'],
  )
  return {
    ...rest,
    properties: Object.assign({}, ...parts, properties) as Json,
    additionalProperties: unevaluatedProperties,
  }
}

/** Returns the last part of a reference: the name of the schema. */
