/** toApiError(): the code and message for the client, and the cause for the log. */
import { describe, expect, test } from '@jest/globals'
import { ApiError, createValidationError } from '../../../../src/contract/errors.js'
import { toApiError } from '../../../../src/http/server/translate-error.js'

const bodyError = (type: string) =>
  Object.assign(new Error(`quotes "secret"`), { type, status: 400 })

test.each([
  ['entity.too.large', 'PAYLOAD_TOO_LARGE'],
  ['entity.parse.failed', 'VALIDATION_ERROR'],
  ['encoding.unsupported', 'UNSUPPORTED_MEDIA_TYPE'],
  ['charset.unsupported', 'UNSUPPORTED_MEDIA_TYPE'],
  ['request.aborted', 'VALIDATION_ERROR'],
  ['request.size.invalid', 'VALIDATION_ERROR'],
])('%s of the body parser is %s', (type, code) => {
  const cause = bodyError(type)
  const error = toApiError(cause)
  expect(error.code).toBe(code)
  expect(error.message).not.toContain('secret')
  expect(error.cause).toBe(cause)
})

describe('an unexpected error is INTERNAL_ERROR, and its message does not name the cause', () => {
  test.each([
    [new Error('connect ECONNREFUSED 10.0.0.3:8123')],
    [Object.assign(new Error('x'), { status: 429 })],
    [Object.assign(new Error('x'), { type: 'constructor' })],
    ['a string'],
    [undefined],
    [null],
  ])('%p', (cause) => {
    const error = toApiError(cause)
    expect([error.code, error.message]).toEqual(['INTERNAL_ERROR', 'Something went wrong.'])
    expect(error.cause).toBe(cause)
  })
})

test('an ApiError stays as it is', () => {
  const error = new ApiError('QUERY_TIMEOUT', 'The query took too long.')
  expect(toApiError(error)).toBe(error)
})

test('the message has the first error, and the number of the others', () => {
  const errors = [
    { field: 'limit', message: 'must be at least 1' },
    { field: 'offset', message: 'must be at least 0' },
  ]
  const { message, details } = createValidationError(errors)
  expect(message).toBe('The request is not valid: limit must be at least 1 (and 1 more).')
  expect(details).toEqual(errors)
})
