/** The content types that are accepted for queries and for events. */
import { expect, test } from '@jest/globals'
import { EVENT_TYPES, isContentType, QUERY_TYPES } from '../../../../src/http/server/body.js'

test.each([
  'application/json',
  'Application/JSON',
  'application/json; charset=utf-8',
  'application/json;charset=UTF-8',
  'application/json ; charset="utf-8"',
])('%j is accepted for queries', (header) => {
  expect(isContentType(QUERY_TYPES, header)).toBe(true)
})

test.each([
  '',
  'text/plain',
  'application/jsonp',
  'application/json-patch+json',
  'application/*',
  '*/*',
  'application/json, text/plain',
  'application/json; charset=utf-16',
  'application/json; charset=iso-8859-1',
  'application/json; charset="utf-8',
  'application/json; charset=utf-8; x=1',
  'application/json; x=1',
  'application/json;',
  `application/json${' '.repeat(12_000)}`,
  `application/json;${'a=b;'.repeat(3_000)}`,
])('%j is refused for queries', (header) => {
  expect(isContentType(QUERY_TYPES, header)).toBe(false)
})

test.each(['application/json', 'text/plain', 'Text/Plain;charset=UTF-8'])(
  '%j is accepted for events',
  (header) => {
    expect(isContentType(EVENT_TYPES, header)).toBe(true)
  },
)

test.each([
  '',
  'text/html',
  'text/plain; charset=latin1',
  'application/x-ndjson',
  'text/plain;x=1',
])('%j is refused for events', (header) => {
  expect(isContentType(EVENT_TYPES, header)).toBe(false)
})
