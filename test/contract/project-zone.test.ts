/** The law of a project's time zone: a body that names none is validated as the same body with that of the project. */
import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { OPERATIONS } from '../../src/analytics/operations/list.js'
import { ApiError } from '../../src/contract/errors.js'
import { readSpecs } from '../../src/contract/spec.js'
import {
  compileOperationBodies,
  createValidateBody,
} from '../../src/http/validation/validate-body.js'
import { funnelRequest, journeysRequest, retentionRequest } from '../support/arbitrary/cohorts.js'
import { valuesRequest } from '../support/arbitrary/values.js'
import { request } from '../support/arbitrary/world.js'
import { scaled } from '../support/effort.js'
import { document, listSchemas } from './document.js'

const validate = createValidateBody(compileOperationBodies(readSpecs().openapi.document))

/** Periods: some that only certain zones have, and one that has too many hours or not. */
const dateRange = fc.constantFrom<unknown>(
  'today',
  '30days',
  'all',
  ['2026-03-28', '2026-03-29'],
  ['2026-03-28', '2026-03-27T23:30:00Z'],
  ['2026-03-28T18:30:00Z', '2026-03-28'],
  ['2011-12-30', '2011-12-30'],
  ['2026-01-02', '2026-01-01'],
  ['2025-01-01', '2026-02-21'],
  'never',
)

const withoutZone = (asked: object): object =>
  Object.fromEntries(Object.entries(asked).filter(([name]) => name !== 'time_zone'))

/** Bodies without a time zone, valid or not. */
const body = fc
  .tuple(
    fc.oneof(
      request,
      valuesRequest,
      funnelRequest,
      journeysRequest,
      retentionRequest,
      fc.constant({}),
    ),
    fc.option(dateRange, { nil: undefined }),
    fc.constantFrom({}, { compare: ['2026-03-01', '2026-02-28T20:00:00Z'] }, { limit: 0 }),
  )
  .map(([asked, range, others]) => ({
    ...withoutZone(asked),
    ...(range === undefined ? {} : { date_range: range }),
    ...others,
  }))

const zone = fc.constantFrom(
  ...['Europe/Berlin', 'Asia/Kathmandu', 'Pacific/Apia', 'america/new_york', 'UTC'],
  // A zone that another runtime knows.
  'Mars/Olympus',
)

/** What becomes of a body: the validated request or the errors. The body is changed, so each gets a copy. */
function validated(name: string, given: object, timeZone?: string | null): unknown {
  const operation = OPERATIONS.find((one) => one.name === name)!
  const project = timeZone === undefined ? undefined : { timeZone }
  try {
    return validate(operation, structuredClone(given), project)
  } catch (error) {
    if (error instanceof ApiError) return [error.code, error.details]
    throw error
  }
}

const ZONED = OPERATIONS.filter(({ hasTimeZone }) => hasTimeZone).map(({ name }) => name)

test('the operations whose requests may name a time zone', () => {
  const allowed = OPERATIONS.filter(({ path }) => {
    const names = [...listSchemas(document.paths[path]!['post']!.requestBody)]
    return 'time_zone' in (document.components.schemas[names[0]!]!.properties ?? {})
  })
  expect(ZONED).toEqual(allowed.map(({ name }) => name))
})

const RUNS = { numRuns: scaled(150) }

test.each(ZONED)('a body for %s without a zone has that of the project', (name) => {
  fc.assert(
    fc.property(body, zone, (given, timeZone) => {
      expect(validated(name, given, timeZone)).toEqual(
        validated(name, { ...given, time_zone: timeZone }),
      )
    }),
    RUNS,
  )
})

test.each(ZONED)('the zone of a body for %s counts more than that of the project', (name) => {
  fc.assert(
    fc.property(body, zone, zone, (given, time_zone, timeZone) => {
      const zoned = { ...given, time_zone }
      expect(validated(name, zoned, timeZone)).toEqual(validated(name, zoned))
    }),
    RUNS,
  )
})

test.each([...ZONED, 'retention'])(
  'a project without a zone changes no body for %s, and none does for retention',
  (name) => {
    fc.assert(
      fc.property(body, zone, (given, timeZone) => {
        const own = name === 'retention' ? timeZone : null
        expect(validated(name, given, own)).toEqual(validated(name, given))
      }),
      RUNS,
    )
  },
)

test.each([null, 5, '', ['UTC']])('%j is no missing zone', (time_zone) => {
  const given = { date_range: 'today', time_zone }
  expect(validated('query', given, 'Europe/Berlin')).toEqual([
    'VALIDATION_ERROR',
    [expect.objectContaining({ field: 'time_zone' })],
  ])
})
