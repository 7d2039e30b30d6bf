/** Compiles the contracts: one set of validators for the service, for `tallyhouse explain` and for tests. */
import type { Request, RequestHandler } from 'express'
import type { AnalyticsQueryRequest } from '../../contract/api.js'
import type { SentEvent } from '../../contract/collector-api.js'
import { readSpecs, type Spec, type SpecName, type Specs } from '../../contract/spec.js'
import type { CollectContext } from '../server/request-context.js'
import {
  compile,
  createValidator,
  validateBody,
  type Operation,
  type ValidationOptions,
} from './openapi-validator.js'
import { createEventsCheck } from './validate-events.js'
import { createQueryCheck } from './validate-query.js'

/** The compiled contracts: each middleware and the function beside it share one validator. */
export interface Contract {
  readonly specs: Specs
  /** Validates the request of an operation of the query API whose body has been parsed. */
  readonly checkQuery: RequestHandler
  /** Validates a request to the collector whose body has been brought into the form `{ events }`. */
  readonly checkEvents: RequestHandler
  /**
   * Validates a query and fills in its defaults.
   *
   * @throws ApiError VALIDATION_ERROR
   */
  validateQuery(body: unknown): Promise<AnalyticsQueryRequest>
  /**
   * Validates events.
   *
   * @throws ApiError VALIDATION_ERROR
   */
  validateEvents(events: readonly unknown[], context: CollectContext): Promise<readonly SentEvent[]>
}

const QUERY = { method: 'POST', path: '/v1/analytics/query' } as const
const PROJECT = { method: 'GET', path: '/v1/project' } as const
const EVENTS = { method: 'POST', path: '/v1/events' } as const

/**
 * Compiles the contracts of the package.
 *
 * @param names the contracts that this process needs; another one would be compiled by its first request
 * @throws Error naming the schema that the validator cannot take, or the operation that does not compile
 */
export async function compileContract(
  options: ValidationOptions,
  names: readonly SpecName[] = ['openapi', 'collector'],
  specs: Specs = readSpecs(),
): Promise<Contract> {
  const validators = {
    openapi: createValidator(specs.openapi.document, options),
    collector: createValidator(specs.collector.document, options),
  }
  if (names.includes('openapi')) {
    await compile(validators.openapi, findExamples(specs.openapi, QUERY))
    await compile(validators.openapi, findExamples(specs.openapi, PROJECT))
  }
  if (names.includes('collector')) {
    const event = findExamples(specs.collector, EVENTS)
    await compile(validators.collector, { ...event, body: { events: [event.body] } })
  }
  const checkQuery = createQueryCheck(specs.openapi.document, validators.openapi)
  const checkEvents = createEventsCheck(specs.collector.document, validators.collector)
  return {
    specs,
    checkQuery,
    checkEvents,
    validateQuery: async (body) =>
      (await validateBody(checkQuery, { ...QUERY, body })) as AnalyticsQueryRequest,
    validateEvents: async (events, context) => {
      const prepare = (request: Request): void => {
        request.collectContext = context
      }
      const body = await validateBody(checkEvents, { ...EVENTS, body: { events } }, prepare)
      return (body as { readonly events: readonly SentEvent[] }).events
    },
  }
}

/** The first example of an operation's request and of its successful response, which both are valid. */
function findExamples(
  { document }: Spec,
  { method, path }: Pick<Operation, 'method' | 'path'>,
): Operation {
  const { paths, components } = document as unknown as ExampleDocument
  const { requestBody, responses } = paths[path]?.[method.toLowerCase()] ?? { responses: {} }
  const [status = '', response] = Object.entries(responses)[0] ?? []
  const read = (content: Content | undefined): unknown => {
    const [example] = Object.values(content?.content['application/json'].examples ?? {})
    const { $ref } = example ?? {}
    return $ref === undefined
      ? example?.value
      : components.examples[$ref.slice($ref.lastIndexOf('/') + 1)]?.value
  }
  return {
    method,
    path,
    body: read(requestBody),
    response: { status: Number(status), body: read(response) },
  }
}

interface Example {
  readonly value?: unknown
  readonly $ref?: string
}

interface Content {
  readonly content: {
    readonly 'application/json': { readonly examples: Readonly<Record<string, Example>> }
  }
}

/** The parts of a contract that lead to its examples. */
interface ExampleDocument {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          { readonly requestBody?: Content; readonly responses: Readonly<Record<string, Content>> }
        >
      >
    >
  >
  readonly components: { readonly examples: Readonly<Record<string, Example>> }
}
