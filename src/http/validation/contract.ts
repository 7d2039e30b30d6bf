/** Opens the contracts: what requests are checked by, and the pages that publish them. */
import type { Router } from 'express'
import { docsRouter } from '../site/docs.js'
import { eventsValidation } from './validate-events.js'
import type { Handler } from '../server/routes.js'
import { readSpec } from '../../contract/spec.js'
import { validation } from './validate-query.js'
import type { ValidationOptions } from './validator.js'

/** The contracts as the application uses them. */
export interface Contract {
  /** Read the body of a question and check it; compiled at the first request of each operation. */
  readonly checks: readonly Handler[]
  /** Check the body of a request that brings events. */
  readonly eventChecks: readonly Handler[]
  readonly docs: Router
}

/** Opens the contracts of the package. */
export function openContract(options: ValidationOptions): Contract {
  const specs = { openapi: readSpec('openapi'), collector: readSpec('collector') }
  return {
    checks: validation(specs.openapi.document, options),
    eventChecks: eventsValidation(specs.collector.document, options),
    docs: docsRouter(specs),
  }
}
