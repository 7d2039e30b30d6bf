/** Serves the documentation: the pages that people read, and the contracts as pages, JSON and YAML. */
import { Router } from 'express'
import type { Specs } from '../../../contract/spec.js'
import { addRoutes } from '../../server/routes.js'
import { buildGuideRoutes } from './guide.js'
import { buildReferenceRoutes } from './reference.js'

/** Creates the routes. They need no key. */
export function createDocsRouter(specs: Specs): Router {
  const router = Router({ caseSensitive: true, strict: true })
  addRoutes(router, { ...buildGuideRoutes(), ...buildReferenceRoutes(specs) })
  return router
}
