/** ApiError has the parts that a response needs, and no others. */
import { expect, test } from '@jest/globals'
import { ApiError } from '../../../src/contract/errors.js'

test('an error is its code and message; the rest may be absent', () => {
  const { code, message, details, headers, cause } = new ApiError(
    'NOT_FOUND',
    'There is nothing at this path.',
  )
  expect({ code, message, details, headers, cause }).toEqual({
    code: 'NOT_FOUND',
    message: 'There is nothing at this path.',
    details: undefined,
    headers: {},
    cause: undefined,
  })
})

test('an error carries details, headers and its cause', () => {
  const cause = new Error('socket hang up')
  const options = {
    details: [{ field: 'limit', message: 'x' }],
    headers: { 'Retry-After': '5' },
    cause,
  }
  expect(new ApiError('SERVICE_UNAVAILABLE', 'Down.', options)).toMatchObject(options)
})
