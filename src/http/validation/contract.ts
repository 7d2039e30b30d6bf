/** Compiles the contracts: what checks the requests of the service, and the bodies of batches and tools. */
import type { RequestHandler } from 'express'
import { OPERATIONS } from '../../analytics/operations/list.js'
import type { AnyOperation } from '../../analytics/operation.js'
import type { BatchRequest } from '../../contract/api.js'
import { readSpecs, type SpecName, type Specs } from '../../contract/spec.js'
import type { Method } from '../server/routes.js'
import { createCheck, createOperationCheck } from './check-request.js'
import { compileBodies } from './compile-bodies.js'
import { compile, createValidator, type ValidationOptions } from './express-validator.js'
import { prepareDocument } from './prepare-document.js'
import { createBatchCheck, validateBatch } from './validate-batch.js'
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
  /**
   * Returns what checks the requests to an operation of management, whose bodies have been parsed.
   *
   * @param path as in the contract, such as `/v1/projects/{id}`
   */
  readonly checkManagement: (method: Method, path: string) => RequestHandler
  /** Checks a request to the collector whose body has been normalized to `{ events }`. */
  readonly checkEvents: RequestHandler
  readonly validate: ValidateBody
  /** The same for a batch, but not its queries. @throws ApiError VALIDATION_ERROR */
  readonly validateBatch: (body: object) => BatchRequest
}

const BATCH = '/v1/analytics/batch'
const PROJECT = '/v1/project'
const EVENTS = '/v1/events'
const [FIRST = BATCH, ...OTHERS] = OPERATIONS.flatMap(({ path, explained }) =>
  explained === undefined ? [path] : [path, explained.path],
)

interface ContractOptions extends ValidationOptions {
  /** Whether to compile all operations now, which is the default, or only those that are used most. */
  readonly compileAll?: boolean
}

/**
 * Compiles the contracts of the package. The first request to any other operation waits about 0.1 s, until that is compiled.
 *
 * @param names the contracts that this process serves; requests to another one would compile it on arrival
 * @throws Error naming the schema that the validator cannot take, or the operation that does not compile
 */
export async function compileContract(
  { compileAll = true, ...options }: ContractOptions,
  names: readonly SpecName[] = ['openapi', 'collector'],
  specs: Specs = readSpecs(),
): Promise<Contract> {
  const openapi = prepareDocument(specs.openapi.document)
  const collector = prepareDocument(specs.collector.document)
  const validator = createValidator(openapi, options)
  const eventsValidator = createValidator(collector, options)
  const bodies = compileOperationBodies(specs.openapi.document, openapi)
  const findEventErrors = compileBodies(collector)(EVENTS)
  const management = prepareDocument(specs.management.document)
  const managementValidator = createValidator(management, options)
  const managementBodies = compileBodies(management)
  if (names.includes('openapi')) {
    await compile(validator, 'GET', PROJECT)
    for (const path of compileAll ? [FIRST, ...OTHERS, BATCH] : [FIRST]) {
      await compile(validator, 'POST', path)
      if (compileAll) bodies(path)({})
    }
  }
  if (names.includes('collector')) {
    await compile(eventsValidator, 'POST', EVENTS)
    if (compileAll) findEventErrors({})
  }
  return {
    specs,
    check: (operation) =>
      operation === undefined
        ? createCheck(validator)
        : createOperationCheck(operation, validator, bodies(operation.path)),
    checkBatch: createBatchCheck(validator, bodies(BATCH)),
    checkManagement: (method, path) =>
      createCheck(managementValidator, managementBodies(path, method)),
    checkEvents: createEventsCheck(specs.collector.document, eventsValidator, findEventErrors),
    validate: createValidateBody(bodies),
    validateBatch: (body) => validateBatch(bodies(BATCH), body),
  }
}
