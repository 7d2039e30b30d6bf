/** Members with an object form: behind the validation there are only the arrays and texts that mean the same. */
import { expect, test } from '@jest/globals'
import request from 'supertest'
import type { FieldError } from '../../src/contract/api.js'
import { contractApp, QUERY, VALUES } from './contract-app.js'

type Body = Readonly<Record<string, unknown>>

const received: Body[] = []
const app = contractApp((request, response) => {
  received.push(request.body as Body)
  response.status(204).end()
})

/** Sends a body; returns the members that the handler gets of those in `short`, or the errors. */
async function read(path: string, body: object, short: object = {}): Promise<unknown> {
  const response = await request(app).post(path).send(body)
  const valid = received.pop()
  if (valid !== undefined) {
    return Object.fromEntries(Object.keys(short).map((name) => [name, valid[name]]))
  }
  const { error } = response.body as { error: { details: readonly FieldError[] } }
  return error.details.map(({ field, message }) => [field, message])
}

const query = (fields: object) => ({ date_range: 'today', ...fields })

test.each<[path: string, body: object, short: object]>([
  [
    QUERY,
    { date_range: { from: '2026-01-01', to: '2026-01-31T10:00:00Z' } },
    { date_range: ['2026-01-01', '2026-01-31T10:00:00Z'] },
  ],
  [
    QUERY,
    query({ compare: { to: '2025-01-31', from: '2025-01-01' } }),
    { compare: ['2025-01-01', '2025-01-31'] },
  ],
  [
    QUERY,
    query({ order_by: [{ field: 'users', direction: 'asc' }] }),
    { order_by: [['users', 'asc']] },
  ],
  [
    QUERY,
    query({ group_by: [{ property: 'plan' }], then_by: [{ property: 'event:prop:' }] }),
    { group_by: ['event:prop:plan'], then_by: ['event:prop:event:prop:'] },
  ],
  [VALUES, query({ field: { property: 'a.b' } }), { field: 'event:prop:a.b' }],
])('%s %j: %j', async (path, body, short) => {
  expect(await read(path, body, short)).toEqual(short)
})

test.each<[body: object, errors: readonly (readonly [field: string, message: string])[]]>([
  [{ date_range: { from: '2026-01-01' } }, [['date_range.to', 'is required']]],
  [
    { date_range: { from: '2026-02-01', to: '2026-01-01' } },
    [['date_range', 'must not start after its end']],
  ],
  [
    query({ order_by: [{ field: 'visits', direction: 'asc' }] }),
    [
      [
        'order_by.0.field',
        'must be a metric or the grouping of this query, one of: users, pageviews, events',
      ],
    ],
  ],
  [query({ order_by: [{ field: 'users' }] }), [['order_by.0.direction', 'is required']]],
  [
    query({ group_by: [{ property: '' }] }),
    [['group_by.0.property', 'must have at least 1 character']],
  ],
  [query({ group_by: [{ property: 5 }] }), [['group_by.0.property', 'must be a string']]],
])('%j: %j', async (body, errors) => {
  expect(await read(QUERY, body)).toEqual(errors)
})
