/** Compiles the contracts: one set of validators for the service, for `tallyhouse explain` and for tests. */
import type { RequestHandler } from 'express'
import { EXPORT_RULES } from '../../analytics/export/rules.js'
import { findTooDeepFilterOfFunnel, FUNNEL_RULES } from '../../analytics/funnel/rules.js'
import { RETENTION_RULES } from '../../analytics/retention/rules.js'
import type {
  AnalyticsQueryRequest,
  FunnelRequest,
  RetentionRequest,
  ValuesRequest,
} from '../../contract/api.js'
import { readSpecs, type Spec, type SpecName, type Specs } from '../../contract/spec.js'
import {
  compile,
  createValidator,
  validate,
  type OperationExample,
  type OperationRequest,
  type ValidationOptions,
} from './openapi-validator.js'
import { createEventsCheck } from './validate-events.js'
import { createBatchCheck } from './validate-batch.js'
import { createOperationCheck, findTooDeep, type OperationChecks } from './validate-operations.js'
import { QUERY_CHECKS, VALUES_CHECKS } from './validate-query.js'

/** The compiled contracts. */
export interface Contract {
  readonly specs: Specs
  /** Validates a request to the query API whose body has been parsed; also a query that is to be explained. */
  readonly checkQuery: RequestHandler
  /** Validates a request for values whose body has been parsed. */
  readonly checkValues: RequestHandler
  /** Validates a request for retention whose body has been parsed; also one that is to be explained. */
  readonly checkRetention: RequestHandler
  /** Validates a request for a funnel whose body has been parsed; also one that is to be explained. */
  readonly checkFunnel: RequestHandler
  /** Validates a request for events whose body has been parsed. */
  readonly checkExport: RequestHandler
  /** Validates a batch whose body has been parsed, but not its queries. */
  readonly checkBatch: RequestHandler
  /** Validates a request to the collector whose body has been normalized to `{ events }`. */
  readonly checkEvents: RequestHandler
  /**
   * Validates a query and fills in its defaults, as `checkQuery` does.
   *
   * @throws ApiError VALIDATION_ERROR
   */
  validateQuery(body: unknown): Promise<AnalyticsQueryRequest>
  /** Validates a request for values in the same way. @throws ApiError VALIDATION_ERROR */
  validateValues(body: unknown): Promise<ValuesRequest>
  /** Validates a request for retention in the same way. @throws ApiError VALIDATION_ERROR */
  validateRetention(body: unknown): Promise<RetentionRequest>
  /** Validates a request for a funnel in the same way. @throws ApiError VALIDATION_ERROR */
  validateFunnel(body: unknown): Promise<FunnelRequest>
}

const QUERY = { method: 'POST', path: '/v1/analytics/query' } as const
const VALUES = { method: 'POST', path: '/v1/analytics/values' } as const
const RETENTION = { method: 'POST', path: '/v1/analytics/retention' } as const
const FUNNEL = { method: 'POST', path: '/v1/analytics/funnel' } as const
const BATCH = { method: 'POST', path: '/v1/analytics/batch' } as const
const EXPLAINS = ['explain', 'retention/explain', 'funnel/explain'].map((name) => ({
  method: 'POST' as const,
  path: `/v1/analytics/${name}`,
}))
const EXPORT = { method: 'POST', path: '/v1/events/export' } as const
const PROJECT = { method: 'GET', path: '/v1/project' } as const
const EVENTS = { method: 'POST', path: '/v1/events' } as const

/** The operations that are compiled in any case: a first request to one of the others waits for about 0.1 s. */
const COMMON_OPERATIONS = [QUERY, PROJECT]
const OTHER_OPERATIONS = [VALUES, RETENTION, FUNNEL, BATCH, ...EXPLAINS, EXPORT]

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
    const operations = [...COMMON_OPERATIONS, ...(compileAll ? OTHER_OPERATIONS : [])]
    for (const operation of operations) {
      await compile(openapi, findExample(specs.openapi, operation))
    }
  }
  if (names.includes('collector')) {
    const example = findExample(specs.collector, EVENTS)
    await compile(collector, { ...example, body: { events: [example.body] } })
  }
  const checkOperation = <Body>(checks: OperationChecks<Body>): RequestHandler =>
    createOperationCheck(specs.openapi.document, openapi, checks)
  const checkQuery = checkOperation(QUERY_CHECKS)
  const checkValues = checkOperation(VALUES_CHECKS)
  const checkRetention = checkOperation({ rules: RETENTION_RULES, findTooDeep })
  const checkFunnel = checkOperation({
    rules: FUNNEL_RULES,
    findTooDeep: findTooDeepFilterOfFunnel,
  })
  return {
    specs,
    checkQuery,
    checkValues,
    checkRetention,
    checkFunnel,
    checkExport: checkOperation({ rules: EXPORT_RULES, findTooDeep }),
    checkBatch: createBatchCheck(openapi),
    checkEvents: createEventsCheck(specs.collector.document, collector),
    validateQuery: async (body) =>
      (await validate(checkQuery, { ...QUERY, body })) as AnalyticsQueryRequest,
    validateValues: async (body) =>
      (await validate(checkValues, { ...VALUES, body })) as ValuesRequest,
    validateRetention: async (body) =>
      (await validate(checkRetention, { ...RETENTION, body })) as RetentionRequest,
    validateFunnel: async (body) =>
      (await validate(checkFunnel, { ...FUNNEL, body })) as FunnelRequest,
  }
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
