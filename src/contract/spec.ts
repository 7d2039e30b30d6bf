/** Reads the contracts, which the service validates by and publishes. */
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { packagePath } from '../lib/package-path.js'

interface Schema {
  readonly enum?: readonly string[]
  readonly default?: unknown
  readonly properties?: object
}

type Schemas = Readonly<Record<string, Schema>>

/** The contract as far as the code looks into it. */
export interface SpecDocument {
  readonly components: { readonly schemas: Schemas }
}

/** The contract, as text and as a document. */
export interface Spec {
  readonly yaml: string
  readonly document: SpecDocument
}

/** The contracts: openapi/NAME.yaml of the package. */
export type SpecName = 'openapi' | 'collector'

/** Reads a contract. */
export function readSpec(name: SpecName): Spec {
  const yaml = readFileSync(packagePath(`openapi/${name}.yaml`), 'utf8')
  return { yaml, document: parse(yaml) as SpecDocument }
}

/** The values of an enum of the contract. */
export const namesOf = (document: SpecDocument, schema: string): readonly string[] =>
  document.components.schemas[schema]?.enum ?? []

/** The names of the properties of an object of the contract. */
export const propertiesOf = (document: SpecDocument, schema: string): readonly string[] =>
  Object.keys(document.components.schemas[schema]?.properties ?? {})

/**
 * A copy for the validator, which is the contract put in the words that make it quick and exact:
 *
 * - without examples;
 * - where names are suggested beside any text, that text alone is left;
 * - the items of an array are looked at only where there are not too many of them;
 * - a default stands beside the reference to the schema that has it, where the validator looks;
 * - of a body in several forms the one is left that all are brought into before;
 * - an object that has the properties of others is spelled out with them, and has no more;
 * - names of properties are left to the rules, which tell them in one sentence;
 * - a union told apart by a property is spelled out, "if the type is page, then a page filter". The
 *   discriminator, which readers and generated types need, would make it name the wrong faults.
 */
export function forValidator(document: SpecDocument): object {
  const { schemas } = document.components
  const plain = JSON.stringify(document, (_key, value: unknown) => {
    if (isNormalized(value)) return schemas[value['x-normalized']]
    return isSealed(value) ? sealed(value, schemas) : value
  })
  return JSON.parse(plain, (key, value: unknown) => {
    if (key === 'examples' || key === 'propertyNames') return undefined
    if (isReference(value)) return withDefault(value, schemas)
    if (isSuggestion(value)) return value.anyOf.at(-1)
    if (isUnion(value)) return spelledOut(value)
    return isCapped(value) ? cappedFirst(value) : value
  }) as object
}

interface Normalized {
  /** The name of the schema of the one form. */
  readonly 'x-normalized': string
}

const isNormalized = (value: unknown): value is Normalized =>
  typeof value === 'object' && value !== null && 'x-normalized' in value

interface Reference {
  readonly $ref: string
}

const isReference = (value: unknown): value is Reference =>
  typeof value === 'object' && value !== null && '$ref' in value

const referred = ({ $ref }: Reference, schemas: Schemas): Schema | undefined =>
  schemas[$ref.slice($ref.lastIndexOf('/') + 1)]

interface Sealed {
  readonly allOf: readonly Reference[]
  readonly unevaluatedProperties: false
  readonly properties?: object
}

const isSealed = (value: unknown): value is Sealed =>
  typeof value === 'object' && value !== null && 'unevaluatedProperties' in value

function sealed({ allOf, properties }: Sealed, schemas: Schemas): object {
  const inherited = allOf.map((reference) => referred(reference, schemas)?.properties)
  return {
    type: 'object',
    properties: Object.assign({}, ...inherited, properties) as object,
    additionalProperties: false,
  }
}

function withDefault(reference: Reference, schemas: Schemas): object {
  const { $ref } = reference
  const schema = referred(reference, schemas)
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
