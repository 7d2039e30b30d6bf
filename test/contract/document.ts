/** Typed access to the parts of the contract that tests read. */
import { parse } from 'yaml'
import { spec } from './contract-app.js'

export interface Example {
  readonly summary?: string
  readonly value: unknown
}

interface Reference {
  readonly $ref: string
}

interface Media {
  readonly examples: Readonly<Record<string, Example | Reference>>
}

interface Content {
  readonly headers?: Readonly<Record<string, unknown>>
  readonly content: { readonly 'application/json': Media }
}

interface Parameter {
  readonly name: string
  readonly in: string
}

export interface Operation {
  readonly operationId: string
  /** Whether public dashboards answer it. */
  readonly 'x-public-dashboard'?: boolean
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters?: readonly (Parameter | Reference)[]
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Content | Reference>>
}

export interface Schema extends Partial<Reference> {
  readonly description?: string
  readonly enum?: readonly string[]
  readonly const?: unknown
  readonly examples?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: unknown
  readonly discriminator?: { readonly mapping: Readonly<Record<string, string>> }
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>
    readonly responses: Readonly<Record<string, Content>>
  }
}

export const document = parse(spec.yaml) as Document

/** Resolves a reference within the contract. */
export function deref<T extends object>(value: T | Reference): T {
  if (!('$ref' in value)) return value
  const names = value.$ref.split('/').slice(1)
  return names.reduce<unknown>((node, name) => Reflect.get(node as object, name), document) as T
}

/** Lists the named examples of a body. */
export function examplesOf(body: Content | Reference): readonly (readonly [string, Example])[] {
  const { examples } = deref<Content>(body).content['application/json']
  return Object.entries(examples).map(([name, example]) => [name, deref<Example>(example)] as const)
}

/** Every operation, with its method and path. */
export const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
)

/** The members of a union by their discriminator value. */
export const unionOf = (name: string): Readonly<Record<string, string>> =>
  document.components.schemas[name]?.discriminator?.mapping ?? {}

/** Lists every object inside a document, from the outside in, except those inside examples. */
export function listNodes(node: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (typeof node !== 'object' || node === null) return []
  const inner = Object.entries(node)
    .filter(([key]) => key !== 'examples')
    .flatMap(([, value]) => listNodes(value))
  return Array.isArray(node) ? inner : [node as Readonly<Record<string, unknown>>, ...inner]
}

/** Lists the schemas that nodes of the contract consist of, those of their parts among them. */
export function listSchemas(...nodes: readonly unknown[]): ReadonlySet<string> {
  const seen = new Set<string>()
  const visit = (node: unknown): void => {
    for (const { $ref } of listNodes(node)) {
      if (typeof $ref !== 'string' || seen.has($ref)) continue
      seen.add($ref)
      visit(deref({ $ref }))
    }
  }
  visit(nodes)
  return new Set([...seen].map((ref) => ref.replace('#/components/schemas/', '')))
}

/** Returns the body of the first example of a request. */
export function getExampleBody(path: string): object {
  const body = document.paths[path]?.['post']?.requestBody
  const [[, example] = []] = body === undefined ? [] : examplesOf(body)
  if (example === undefined) throw new TypeError(`no example of a request to ${path}`)
  return example.value as object
}
