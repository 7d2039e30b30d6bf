/** Reads the contract, which the service validates by and publishes. */
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { packagePath } from '../paths.js'

type Schemas = Readonly<
  Record<string, { readonly enum?: readonly string[]; readonly default?: unknown }>
>

/** The contract as far as the code looks into it. */
export interface SpecDocument {
  readonly components: { readonly schemas: Schemas }
}

/** The contract, as text and as a document. */
export interface Spec {
  readonly yaml: string
  readonly document: SpecDocument
}

/** Reads openapi/openapi.yaml of the package. */
export function readSpec(): Spec {
  const yaml = readFileSync(packagePath('openapi/openapi.yaml'), 'utf8')
  return { yaml, document: parse(yaml) as SpecDocument }
}

/** The values of an enum of the contract. */
export const namesOf = (document: SpecDocument, schema: string): readonly string[] =>
  document.components.schemas[schema]?.enum ?? []

/**
 * A copy for the validator, which is the contract put in the words that make it quick and exact:
 *
 * - without examples;
 * - where names are suggested beside any text, that text alone is left;
 * - the items of an array are looked at only where there are not too many of them;
 * - a default stands beside the reference to the schema that has it, where the validator looks;
 * - a union told apart by a property is spelled out, "if the type is page, then a page filter". The
 *   discriminator, which readers and generated types need, would make it name the wrong faults.
 */
export function forValidator(document: SpecDocument): object {
  const { schemas } = document.components
  return JSON.parse(JSON.stringify(document), (key, value: unknown) => {
    if (key === 'examples') return undefined
    if (isReference(value)) return withDefault(value, schemas)
    if (isSuggestion(value)) return value.anyOf.at(-1)
    if (isUnion(value)) return spelledOut(value)
    return isCapped(value) ? cappedFirst(value) : value
  }) as object
}

interface Reference {
  readonly $ref: string
}

const isReference = (value: unknown): value is Reference =>
  typeof value === 'object' && value !== null && '$ref' in value

function withDefault({ $ref }: Reference, schemas: Schemas): object {
  const schema = schemas[$ref.slice($ref.lastIndexOf('/') + 1)]
  return schema?.default === undefined ? { $ref } : { $ref, default: schema.default }
}

/** Names that may be given, and last the text that takes them and any other. */
interface Suggestion {
  readonly anyOf: readonly object[]
}

const isSuggestion = (value: unknown): value is Suggestion =>
  typeof value === 'object' && value !== null && 'anyOf' in value

interface CappedArray {
  readonly maxItems: number
  readonly items: unknown
  readonly uniqueItems?: boolean
}

const isCapped = (value: unknown): value is CappedArray =>
  typeof value === 'object' && value !== null && 'maxItems' in value && 'items' in value

function cappedFirst({ items, uniqueItems = false, ...rest }: CappedArray): object {
  return { ...rest, if: { maxItems: rest.maxItems }, then: { items, uniqueItems } }
}

interface Union {
  readonly discriminator: {
    readonly propertyName: string
    readonly mapping: Readonly<Record<string, string>>
  }
  readonly oneOf: unknown
}

const isUnion = (value: unknown): value is Union =>
  typeof value === 'object' && value !== null && 'discriminator' in value && 'oneOf' in value

function spelledOut({ discriminator, oneOf: _, ...rest }: Union): object {
  const { propertyName, mapping } = discriminator
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
