/** Compiles the contracts: one set of validators for the service, for `tallyhouse explain` and for tests. */
import type { RequestHandler } from 'express'
import { OPERATIONS } from '../../analytics/operations/list.js'
import type { AnyOperation, ValidBody } from '../../analytics/operation.js'
import { readSpecs, type Spec, type SpecName, type Specs } from '../../contract/spec.js'
import {
  compile,
  createValidator,
  validate,
  type OperationExample,
  type OperationRequest,
  type ValidationOptions,
} from './openapi-validator.js'
import { createCheck } from './check-request.js'
import { createEventsCheck } from './validate-events.js'
import { createBatchCheck } from './validate-batch.js'
import { createOperationCheck } from './validate-operations.js'

/** The compiled contracts. */
export interface Contract {
  readonly specs: Specs
  /**
   * Returns what validates the requests to an operation whose bodies have been parsed; also those to explain it.
   *
   * @param operation undefined for an endpoint without a body
   */
  readonly check: (operation: AnyOperation | undefined) => RequestHandler
  /** Validates a batch whose body has been parsed, but not its queries. */
  readonly checkBatch: RequestHandler
  /** Validates a request to the collector whose body has been normalized to `{ events }`. */
  readonly checkEvents: RequestHandler
  /**
   * Validates a body for an operation and fills in its defaults, as `check` does.
   *
   * @throws ApiError VALIDATION_ERROR
   */
  validate(operation: AnyOperation, body: unknown): Promise<ValidBody>
}

const BATCH = { method: 'POST', path: '/v1/analytics/batch' } as const
const PROJECT = { method: 'GET', path: '/v1/project' } as const
const EVENTS = { method: 'POST', path: '/v1/events' } as const
const [FIRST, ...OTHERS] = OPERATIONS.flatMap(({ path, explained }) =>
  [path, explained?.path ?? []].flat().map((one) => ({ method: 'POST' as const, path: one })),
)

/** The requests that are compiled in any case: a first one of the others waits for about 0.1 s. */
const COMMON = [FIRST ?? [], PROJECT].flat()

export interface ContractOptions extends ValidationOptions {
  /** Whether all operations are compiled now, as by default, or else those that are used most. */
  readonly compileAll?: boolean
}

/**
 * Compiles the contracts of the package.
 *
 * @param names the contracts that this process serves; requests to another one would compile it on arrival
 * @throws Error naming the schema that the validator cannot take, or the operation that does not compile
 */
export async function compileContract(
  { compileAll = true, ...options }: ContractOptions,
  names: readonly SpecName[] = ['openapi', 'collector'],
  specs: Specs = readSpecs(),
): Promise<Contract> {
  const openapi = createValidator(specs.openapi.document, options)
  const collector = createValidator(specs.collector.document, options)
  if (names.includes('openapi')) {
    const operations = [...COMMON, ...(compileAll ? [...OTHERS, BATCH] : [])]
    for (const operation of operations) {
      await compile(openapi, findExample(specs.openapi, operation))
    }
  }
  if (names.includes('collector')) {
    const example = findExample(specs.collector, EVENTS)
    await compile(collector, { ...example, body: { events: [example.body] } })
  }
  const { document } = specs.openapi
  const checks = new Map(
    OPERATIONS.map((operation) => [operation, createOperationCheck(document, openapi, operation)]),
  )
  const check: Contract['check'] = (operation) =>
    operation === undefined ? createCheck(openapi) : requireCheck(checks, operation)
  return {
    specs,
    check,
    checkBatch: createBatchCheck(openapi),
    checkEvents: createEventsCheck(specs.collector.document, collector),
    validate: async (operation, body) =>
      (await validate(check(operation), {
        method: 'POST',
        path: operation.path,
        body,
      })) as ValidBody,
  }
}

function requireCheck(
  checks: ReadonlyMap<AnyOperation, RequestHandler>,
  operation: AnyOperation,
): RequestHandler {
  const found = checks.get(operation)
  if (found === undefined) throw new Error(`${operation.name} is not in the list of operations`)
  return found
}

/** Returns the first example of an operation's request, and of its first response. Both are valid. */
function findExample({ document }: Spec, { method, path }: OperationRequest): OperationExample {
  const { paths, components } = document as unknown as ExampleDocument
  const { requestBody, responses } = paths[path]?.[method.toLowerCase()] ?? { responses: {} }
  const [status = '', response] = Object.entries(responses)[0] ?? []
  const read = (content: Content | undefined): unknown => {
    const [example] = Object.values(content?.content['application/json'].examples ?? {})
    const name = example?.$ref?.split('/').at(-1)
    return (name === undefined ? example : components.examples[name])?.value
  }
  return {
    method,
    path,
    body: read(requestBody),
    response: { status: Number(status), body: read(response) },
  }
}

/** The parts of a contract that lead to its examples. */
interface ExampleDocument {
  readonly paths: Named<
    Named<{ readonly requestBody?: Content; readonly responses: Named<Content> }>
  >
  readonly components: { readonly examples: Named<Example> }
}

interface Content {
  readonly content: { readonly 'application/json': { readonly examples: Named<Example> } }
}

interface Example {
  readonly value?: unknown
  readonly $ref?: string
}

type Named<T> = Readonly<Record<string, T>>
