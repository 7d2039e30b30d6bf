/** A small app with the validation of the service, for tests of the contract. */
import express, { type Express, type RequestHandler } from 'express'
import type { FieldError } from '../../src/contract/api.js'
import { ENDPOINTS } from '../../src/http/query/endpoints.js'
import { readQueryBody } from '../../src/http/query/query-body.js'
import { handleError } from '../../src/http/server/error-response.js'
import { addRoutes, rejectUnknownPath } from '../../src/http/server/routes.js'
import { compileContract } from '../../src/http/validation/contract.js'
import request from 'supertest'

export const QUERY = '/v1/analytics/query'
export const VALUES = '/v1/analytics/values'
export const EXPLAIN = '/v1/analytics/explain'
export const BATCH = '/v1/analytics/batch'
export const RETENTION = '/v1/analytics/retention'
export const FUNNEL = '/v1/analytics/funnel'
export const JOURNEYS = '/v1/analytics/journeys'
export const RETENTION_EXPLAIN = '/v1/analytics/retention/explain'
export const FUNNEL_EXPLAIN = '/v1/analytics/funnel/explain'
export const JOURNEYS_EXPLAIN = '/v1/analytics/journeys/explain'
export const EXPORT = '/v1/events/export'
export const PROJECT = '/v1/project'

const contract = await compileContract({ validateResponses: true, compileAll: false })
export const spec = contract.specs.openapi

/** Creates an app that calls `answer` for every valid request, and sends errors as the service does. */
export function contractApp(answer: RequestHandler): Express {
  const app = express()
  const checks = [
    ...ENDPOINTS.map(({ path, method, operation }) => ({
      path,
      method,
      check: contract.check(operation),
    })),
    { path: BATCH, method: 'post', check: contract.checkBatch },
  ]
  addRoutes(
    app,
    Object.fromEntries(
      checks.map(({ path, method, check }) => [
        path,
        { [method]: [...readQueryBody, check, answer] },
      ]),
    ),
  )
  app.use(rejectUnknownPath, handleError)
  return app
}

/** Creates an app that responds with the validated request, without validating the response. */
export function echoApp(): Express {
  return contractApp((req, res) => {
    res.type('text').send(JSON.stringify(req.body))
  })
}

/** Sends a body; returns the request as handlers see it, or the validation errors. */
export async function send(app: Express, body: unknown, path = QUERY) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const response = await request(app).post(path).type('application/json').send(text)
  const answer = JSON.parse(response.text) as {
    readonly error?: { readonly code: string; readonly details?: readonly FieldError[] }
  }
  return { status: response.status, answer, faults: answer.error?.details ?? [] }
}
