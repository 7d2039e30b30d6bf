/** Reads the OpenAPI documents: the service validates requests against them and publishes them. */
import { readFileSync } from 'node:fs'
import { CORE_SCHEMA, load } from 'js-yaml'
import { packagePath } from '../lib/package-path.js'

/** The parts of a schema that this code reads. */
export interface Schema {
  readonly enum?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
}

/** The parts of a contract that this code reads. */
export interface SpecDocument {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** A contract, as text and parsed. */
export interface Spec {
  readonly yaml: string
  readonly document: SpecDocument
}

/** The name of a contract: `openapi/NAME.yaml` in the package. */
export type SpecName = 'openapi' | 'collector' | 'management'

/** All contracts. */
export type Specs = Readonly<Record<SpecName, Spec>>

/**
 * Reads a contract from the package.
 *
 * @throws when the file is missing or is not YAML
 */
export function readSpec(name: SpecName): Spec {
  const yaml = readFileSync(packagePath(`openapi/${name}.yaml`), 'utf8')
  // Five times faster than `yaml`, which also edits documents. CORE_SCHEMA takes no text for a date.
  return { yaml, document: load(yaml, { schema: CORE_SCHEMA }) as SpecDocument }
}

/** Reads all contracts. */
export const readSpecs = (): Specs => ({
  openapi: readSpec('openapi'),
  collector: readSpec('collector'),
  management: readSpec('management'),
})

/** Returns the name of the component that a `$ref` refers to; the empty text for anything else. */
export const nameReferred = (reference: unknown): string =>
  typeof reference === 'string' ? (reference.split('/').at(-1) ?? '') : ''

/** Lists the enum values of a schema; none if the contract has no such enum. */
export const listEnumValues = (document: SpecDocument, schema: string): readonly string[] =>
  document.components.schemas[schema]?.enum ?? []

/** Lists the property names of a schema; none if the contract has no such object. */
export const listProperties = (document: SpecDocument, schema: string): readonly string[] =>
  Object.keys(document.components.schemas[schema]?.properties ?? {})
