/** Reads the body of a question as the service does, for whoever asks without it. */
import express from 'express'
import type { AnalyticsQueryRequest, ErrorResponse } from '../../contract/api.js'
import { ApiError } from '../../contract/errors.js'
import { errorWriter } from '../server/error-response.js'
import { onOwnPort } from './on-own-port.js'
import { addRoutes, type Handler } from '../server/routes.js'
import { readSpec } from '../../contract/spec.js'
import { bodyTooLarge } from '../server/translate-error.js'
import { MAX_BODY_BYTES, validation } from './validate-query.js'

const PATH = '/v1/analytics/query'

/**
 * The request, with its defaults filled in. What checks it are handlers of Express: they are put behind
 * a route of their own and asked.
 *
 * @throws ApiError as the service would answer such a body with
 */
export async function readQuestion(body: Buffer): Promise<AnalyticsQueryRequest> {
  if (body.length > MAX_BODY_BYTES) throw bodyTooLarge(MAX_BODY_BYTES)
  const app = express()
  const checks = validation(readSpec('openapi').document, { validateResponses: false })
  addRoutes(app, { [PATH]: { post: [...checks, echo] } })
  app.use(errorWriter)
  return onOwnPort(app, async (address) => {
    const headers = { 'Content-Type': 'application/json' }
    const response = await fetch(address + PATH, { method: 'POST', headers, body })
    if (response.ok) return (await response.json()) as AnalyticsQueryRequest
    const { code, message, details } = ((await response.json()) as ErrorResponse).error
    throw new ApiError(code, message, details === undefined ? {} : { details })
  })
}

const echo: Handler = (request: express.Request, response: express.Response) => {
  response.json(request.body)
}
