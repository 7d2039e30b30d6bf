/** Which declarations of a body are taken. */
import { expect, test } from '@jest/globals'
import { isJsonType } from '../../../src/http/content-type.js'

test.each([
  'application/json',
  'Application/JSON',
  'application/json; charset=utf-8',
  'application/json;charset=UTF-8',
  'application/json ; charset="utf-8"',
])('%j is taken', (header) => {
  expect(isJsonType(header)).toBe(true)
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
])('%j is not', (header) => {
  expect(isJsonType(header)).toBe(false)
})
