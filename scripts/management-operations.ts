/** Lists the operations that take an admin key, as the clients of both languages have them. */
import { nameReferred, type SpecDocument } from '../src/contract/spec.js'
import type { Schema } from './python-types.js'

/** A parameter of an operation, or the place in its path. */
export interface Parameter {
  /** As requests name it. */
  readonly name: string
  /** As methods name it, in camel case. */
  readonly label: string
  readonly schema: Schema
  readonly description: string
  readonly isRequired: boolean
}

/** An operation, and what its method needs. */
export interface Operation {
  /** In camel case. */
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  /** What it does, in one or more paragraphs. */
  readonly description: string
  readonly places: readonly Parameter[]
  readonly query: readonly Parameter[]
  readonly headers: readonly Parameter[]
  /** Undefined if it has none. */
  readonly body: Body | undefined
  /** Undefined for an empty response. */
  readonly response: Body | undefined
  /** Whether the response has an entity tag. */
  readonly isTagged: boolean
  /** The member of a page that has its items, and their schema. */
  readonly page: Page | undefined
}

export interface Body {
  /** JSON, or the type of a file or text. */
  readonly mediaType: string
  /** The schema of JSON; undefined for a file or text. */
  readonly schema: string | undefined
}

export interface Page {
  readonly member: string
  readonly item: string
}

/** The names of methods that the name of the operation, which is unique among all contracts, makes longer than it need be. */
const RENAMED: Readonly<Record<string, string>> = { getManagedProject: 'getProject' }

/** Methods without what saves the transfer of a body: these are small. */
const LEFT_OUT = (method: string, name: string): boolean =>
  name === 'If-None-Match' && method === 'get'

interface RawOperation {
  readonly operationId: string
  readonly description: string
  readonly security?: readonly object[]
  readonly parameters?: readonly (RawParameter | Reference)[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
  readonly responses: Readonly<Record<string, RawResponse>>
}
interface Reference {
  readonly $ref: string
}
interface RawParameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly description: string
  readonly required?: boolean
  readonly schema: Schema
}
interface RawResponse {
  readonly headers?: Readonly<Record<string, unknown>>
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>
}
interface RawDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, RawOperation>>>>
  readonly components: {
    readonly parameters: Readonly<Record<string, RawParameter>>
    readonly schemas: Readonly<Record<string, Schema>>
  }
}

const JSON_TYPE = 'application/json'

/** Lists the operations of a contract that take an admin key, in its order. */
export function listManagementOperations(document: SpecDocument): readonly Operation[] {
  const { paths, components } = document as unknown as RawDocument
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { security = [] }]) => security.some((one) => 'AdminKey' in one))
      .map(([method, operation]) => readOperation(method, path, operation, components)),
  )
}

function readOperation(
  method: string,
  path: string,
  operation: RawOperation,
  components: RawDocument['components'],
): Operation {
  const parameters = (operation.parameters ?? []).map((one) => readParameter(one, components))
  const select = (place: RawParameter['in']): readonly Parameter[] =>
    parameters.filter((one) => one.in === place && !LEFT_OUT(method, one.name))
  const success = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'))
  const [response = {}] = success.map(([, one]) => one)
  const received = readBody(response.content)
  const schema = received?.schema
  const { operationId, description } = operation
  return {
    name: RENAMED[operationId] ?? operationId,
    method: method.toUpperCase() as Operation['method'],
    path,
    description,
    // In the order of the path.
    places: [...path.matchAll(/\{(\w+)\}/g)].flatMap(([, name]) =>
      select('path').filter((one) => one.name === name),
    ),
    query: select('query'),
    headers: select('header'),
    body: readBody(operation.requestBody?.content),
    response: received,
    isTagged: 'ETag' in (response.headers ?? {}),
    page: schema === undefined ? undefined : readPage(components.schemas[schema]),
  }
}

function readParameter(
  given: RawParameter | Reference,
  { parameters }: RawDocument['components'],
): Parameter & Pick<RawParameter, 'in'> {
  const component = '$ref' in given ? nameReferred(given.$ref) : undefined
  const found = '$ref' in given ? parameters[nameReferred(given.$ref)] : given
  if (found === undefined) throw new Error(`The contract has no parameter ${component ?? ''}.`)
  const { name, in: place, description, required = false, schema } = found
  // Several places in paths are called `id`; their components say of what.
  const label = place === 'path' && component !== undefined ? component : name
  return { name, in: place, label: toCamelCase(label), schema, description, isRequired: required }
}

function readBody(content: RawResponse['content']): Body | undefined {
  if (content === undefined) return undefined
  const json = content[JSON_TYPE]
  if (json !== undefined) return { mediaType: JSON_TYPE, schema: nameOf(json.schema) }
  const [type = ''] = Object.keys(content)
  return {
    mediaType: type.includes('*') ? 'application/octet-stream' : type,
    schema: undefined,
  }
}

/** A page is an object with a list and the cursor of the next page. */
function readPage(schema: Schema | undefined): Page | undefined {
  const { properties = {} } = schema ?? {}
  if (!('nextCursor' in properties)) return undefined
  const found = Object.entries(properties).flatMap(([member, { items }]) => {
    const item = nameOf(items)
    return item === undefined ? [] : [{ member, item }]
  })
  return found[0]
}

const nameOf = (schema: Schema | undefined): string | undefined =>
  schema?.$ref === undefined ? undefined : nameReferred(schema.$ref)

/** `If-Match`, `user_id` and `ProjectId` become `ifMatch`, `userId` and `projectId`. */
const toCamelCase = (name: string): string =>
  name
    .replace(/[-_](\w)/g, (_, letter: string) => letter.toUpperCase())
    .replace(/^[A-Z]/, (letter) => letter.toLowerCase())

/** `waitForOperation` becomes `wait_for_operation`. */
export const toSnakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** The parameters that a method takes beside places and body, those of the query string first. */
export const listOptions = ({ query, headers }: Operation): readonly Parameter[] => [
  ...query,
  ...headers,
]
