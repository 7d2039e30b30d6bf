/** Chooses the format of a response by Accept, as RFC 9110 §12.5.1. */
import type { Request, RequestHandler } from 'express'
import { MEDIA_TYPES, type ResponseFormat } from '../../contract/response-formats.js'
import { ApiError } from '../../contract/errors.js'
import '../server/request-context.js'

/**
 * Creates the handler that sets `request.responseFormat` to one of some formats. It throws ApiError NOT_ACCEPTABLE for a request that
 * accepts none of them.
 */
const negotiate = (formats: readonly ResponseFormat[]): RequestHandler => {
  const types = formats.map((name) => MEDIA_TYPES[name])
  return (request, response, next) => {
    response.vary('Accept')
    const type = withoutParameters(request).accepts(types)
    const format = formats.find((name) => MEDIA_TYPES[name] === type)
    if (format === undefined) {
      const list = types.join(', ')
      throw new ApiError('NOT_ACCEPTABLE', `Accept allows none of the formats: ${list}.`)
    }
    request.responseFormat = format
    next()
  }
}

/** For responses that are rows. */
export const negotiateTable = negotiate(Object.keys(MEDIA_TYPES) as readonly ResponseFormat[])
/** For responses that are no rows. */
export const negotiateJson = negotiate(['json'])
/** For batches. */
export const negotiateResults = negotiate(['json', 'ndjson'])

/** A parameter of a media type that is not its weight: charset, version. */
const PARAMETER = /;\s*(?!q\s*=)[^;,="\s]+\s*=\s*(?:"[^"]*"|[^;,"]*)/gi

/** Returns the request without the parameters in Accept: each type is offered in one form only, so they decide nothing. */
function withoutParameters(request: Request): Request {
  const { accept, ...headers } = request.headers
  if (accept === undefined) return request
  const value = { ...headers, accept: accept.replaceAll(PARAMETER, '') }
  return Object.create(request, { headers: { value } }) as Request
}
