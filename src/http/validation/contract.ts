/** Compiles the contracts: what checks the requests of the service, and the bodies of batches and tools. */
import type { RequestHandler } from 'express'
import { OPERATIONS } from '../../analytics/operations/list.js'
import type { AnyOperation } from '../../analytics/operation.js'
import { readSpecs, type Spec, type SpecName, type Specs } from '../../contract/spec.js'
import { createCheck, createOperationCheck } from './check-request.js'
import { compileBodies } from './compile-bodies.js'
import {
  compile,
  createValidator,
  type OperationExample,
  type ValidationOptions,
} from './express-validator.js'
import { prepareDocument } from './prepare-document.js'
import { createBatchCheck } from './validate-batch.js'
import { compileOperationBodies, createValidateBody, type ValidateBody } from './validate-body.js'
import { createEventsCheck } from './validate-events.js'

/** The compiled contracts. */
export interface Contract {
  readonly specs: Specs
  /**
   * Returns what checks the requests to an operation whose bodies have been parsed; also those to explain it. An invalid
   * request is passed on as an `ApiError`.
   *
   * @param operation undefined for an endpoint without a body
   */
  readonly check: (operation: AnyOperation | undefined) => RequestHandler
  /** Checks a batch whose body has been parsed, but not its queries. */
  readonly checkBatch: RequestHandler
  /** Checks a request to the collector whose body has been normalized to `{ events }`. */
  readonly checkEvents: RequestHandler
  readonly validate: ValidateBody
}

type Operation = Pick<OperationExample, 'method' | 'path'>

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
  const openapi = prepareOnce(specs.openapi)
  const collector = prepareOnce(specs.collector)
  const validator = createValidator(openapi, options)
  const eventsValidator = createValidator(collector, options)
  if (names.includes('openapi')) {
    const operations = [...COMMON, ...(compileAll ? [...OTHERS, BATCH] : [])]
    for (const operation of operations) {
      await compile(validator, findExample(specs.openapi, operation))
    }
  }
  if (names.includes('collector')) {
    const example = findExample(specs.collector, EVENTS)
    await compile(eventsValidator, { ...example, body: { events: [example.body] } })
  }
  const bodies = compileOperationBodies(specs.openapi.document, openapi)
  const findEventErrors = compileBodies(collector)(EVENTS.path)
  return {
    specs,
    check: (operation) =>
      operation === undefined
        ? createCheck(validator)
        : createOperationCheck(operation, validator, bodies(operation.path)),
    checkBatch: createBatchCheck(validator, bodies(BATCH.path)),
    checkEvents: createEventsCheck(specs.collector.document, eventsValidator, findEventErrors),
    validate: createValidateBody(bodies),
  }
}

function prepareOnce({ document }: Spec): () => object {
  let prepared: object | undefined
  return () => (prepared ??= prepareDocument(document))
}

/** Returns the first example of an operation's request, and of its first response. Both are valid. */
function findExample({ document }: Spec, { method, path }: Operation): OperationExample {
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
