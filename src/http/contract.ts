/** Opens the contract: what requests are checked by, and the pages that publish it. */
import type { Router } from 'express'
import { docsRouter } from './docs.js'
import type { Handler } from './routes.js'
import { readSpec } from './spec.js'
import { validation, type ValidationOptions } from './validation.js'

/** The contract as the application uses it. */
export interface Contract {
  /** Read the body of a request and check it; compiled at the first request of each operation. */
  readonly checks: readonly Handler[]
  readonly docs: Router
}

/** Opens the contract of the package. */
export function openContract(options: ValidationOptions): Contract {
  const spec = readSpec()
  return { checks: validation(spec.document, options), docs: docsRouter(spec) }
}
