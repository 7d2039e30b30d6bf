/** Chooses the format of an answer by Accept, as RFC 9110 §12.5.1. */
import type { Request, RequestHandler } from 'express'
import { MEDIA_TYPES, type AnswerFormat } from '../../contract/answer-formats.js'
import { ApiError } from '../../contract/errors.js'
import '../server/request-context.js'

const FORMATS = Object.keys(MEDIA_TYPES) as readonly AnswerFormat[]
const TYPES = Object.values(MEDIA_TYPES)

/** Sets `request.answerFormat`. @throws ApiError NOT_ACCEPTABLE for a request that accepts none of the formats */
export const negotiateFormat: RequestHandler = (request, response, next) => {
  response.vary('Accept')
  const type = withoutParameters(request).accepts([...TYPES])
  const format = FORMATS.find((name) => MEDIA_TYPES[name] === type)
  if (format === undefined) {
    throw new ApiError('NOT_ACCEPTABLE', `Accept allows none of the formats: ${TYPES.join(', ')}.`)
  }
  request.answerFormat = format
  next()
}

/** A parameter of a media type that is not its weight: charset, version. */
const PARAMETER = /;\s*(?!q\s*=)[^;,="\s]+\s*=\s*(?:"[^"]*"|[^;,"]*)/gi

/** Returns the request without the parameters in Accept: each type is offered in one form only, so they decide nothing. */
function withoutParameters(request: Request): Request {
  const { accept, ...headers } = request.headers
  if (accept === undefined) return request
  const value = { ...headers, accept: accept.replaceAll(PARAMETER, '') }
  return Object.create(request, { headers: { value } }) as Request
}
