/** A small app around the validation of the service, for the tests of the contract. */
import express, { type Express, type RequestHandler } from 'express'
import type { FieldFault } from '../../src/contract/api.js'
import { ERROR_STATUS } from '../../src/contract/errors.js'
import { readSpec } from '../../src/contract/spec.js'
import { toApiError } from '../../src/http/server/translate-error.js'
import { validation } from '../../src/http/validation/validate-query.js'
import request from 'supertest'

export const QUERY = '/v1/analytics/query'
export const PROJECT = '/v1/project'
export const spec = readSpec('openapi')

/** An app that answers every valid request with `answer`, and errors as the service does. */
export function contractApp(answer: RequestHandler): Express {
  const app = express()
  app.use(...validation(spec.document, { validateResponses: true }))
  app.use(answer)
  app.use(((error, _req, res, _next) => {
    const { code, message, details, headers } = toApiError(error)
    res.status(ERROR_STATUS[code]).set(headers).json({ error: { code, message, details } })
  }) satisfies express.ErrorRequestHandler)
  return app
}

/** An app that answers with the request as validation leaves it, and no check of that answer. */
export function echoApp(): Express {
  return contractApp((req, res) => {
    res.type('text').send(JSON.stringify(req.body))
  })
}

/** What came of one body: the request as handlers would see it, or the faults it was refused for. */
export async function send(app: Express, body: unknown) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const response = await request(app).post(QUERY).type('application/json').send(text)
  const answer = JSON.parse(response.text) as {
    readonly error?: { readonly code: string; readonly details?: readonly FieldFault[] }
  }
  return { status: response.status, answer, faults: answer.error?.details ?? [] }
}
