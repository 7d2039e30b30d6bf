/** The table of fields: their names and types are part of the API. */
import { expect, test } from '@jest/globals'
import { DIMENSIONS } from '../../../src/model/dimensions.js'
import { FIELDS, FIELDS_TYPE, SESSION_ATTRIBUTES } from '../../../src/model/event-fields.js'

const ATTRIBUTES = Object.values(DIMENSIONS).flatMap(({ eventField }) => eventField ?? [])
const TEXTS = [
  'timestamp',
  'project',
  'event_id',
  'name',
  'user_id',
  'session_id',
  'url',
  'origin',
  'path',
  'hash',
  'user_agent',
  'ip',
  ...ATTRIBUTES,
]

test('every field has its type', () => {
  expect(Object.fromEntries(FIELDS)).toEqual({
    ...Object.fromEntries(TEXTS.map((name) => [name, 'string'])),
    anonymous: 'boolean',
    properties: 'object',
  })
})

test('every session attribute is a field', () => {
  expect(SESSION_ATTRIBUTES.map(({ field }) => field)).toEqual(ATTRIBUTES)
})

test('FIELDS_TYPE has all fields, in order', () => {
  const members = FIELDS_TYPE.slice('Tuple('.length, -1).split(', ')
  expect(members).toEqual(
    [...FIELDS].map(
      ([name, type]) => `${name} ${type === 'boolean' ? 'Nullable(Bool)' : 'String'}`,
    ),
  )
})
