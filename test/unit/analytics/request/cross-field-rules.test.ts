/** Rules that concern several fields of a query. */
import { describe, expect, test } from '@jest/globals'
import { applyRules, RULES } from '../../../../src/analytics/request/cross-field-rules.js'
import type { AnalyticsQueryRequest, FieldError, Filter } from '../../../../src/contract/api.js'

const createRequest = (given: Partial<AnalyticsQueryRequest>): AnalyticsQueryRequest => ({
  date_range: '30days',
  metrics: ['users', 'pageviews', 'events'],
  group_by: [],
  order_by: [],
  limit: 100,
  offset: 0,
  filters: [],
  filtersOperator: 'and',
  ...given,
})

const checkRules = (
  request: AnalyticsQueryRequest,
  invalidFields: ReadonlySet<string> = new Set(),
): readonly FieldError[] => applyRules(RULES, request, invalidFields)

const start = '2026-01-02'
test.each([
  { range: [start, '2026-01-02'], fits: true },
  { range: [start, '2026-01-02T00:00:00Z'], fits: true },
  { range: ['2026-01-02T23:59:59Z', '2026-01-02'], fits: true },
  { range: ['2026-01-02T10:00:00Z', '2026-01-02T10:00:00Z'], fits: true },
  { range: [start, '9999-12-31'], fits: true },
  { range: ['2026-01-03T00:00:00Z', '2026-01-02'], fits: false },
  { range: ['2026-01-02T10:00:01Z', '2026-01-02T10:00:00Z'], fits: false },
  { range: [start, '2026-01-01'], fits: false },
  { range: [start, '2026-01-01T23:59:59Z'], fits: false },
] as const)('the range $range is valid: $fits', ({ range, fits }) => {
  const error = { field: 'date_range', message: 'must not start after its end' }
  expect(checkRules(createRequest({ date_range: range }))).toEqual(fits ? [] : [error])
})

describe('the time zone', () => {
  const fault = (field: string, message: string) => [{ field, message }]
  test.each([
    { given: { time_zone: 'asia/kolkata' }, errors: [] },
    {
      given: { time_zone: 'Mars/Olympus' },
      errors: fault(
        'time_zone',
        'must be the name of a time zone that is known, such as Europe/Berlin, and is "Mars/Olympus"',
      ),
    },
    {
      // Its buckets are those of no zone, so they are not counted.
      given: {
        time_zone: '+05:30',
        date_range: ['0001-01-01', '9999-12-31'],
        group_by: ['interval:hour'],
      },
      errors: fault(
        'time_zone',
        'must be the name of a time zone that is known, such as Europe/Berlin, and is "+05:30"',
      ),
    },
    {
      given: { time_zone: 'Pacific/Apia', date_range: ['2011-12-30', '2011-12-30'] },
      errors: fault('date_range', 'must not be a day that Pacific/Apia skipped'),
    },
    { given: { time_zone: 'Pacific/Apia', date_range: ['2011-12-30', '2011-12-31'] }, errors: [] },
    // In Tokyo the day has begun.
    { given: { time_zone: 'Asia/Tokyo', date_range: [start, '2026-01-01T15:00:00Z'] }, errors: [] },
    {
      given: { time_zone: 'Asia/Tokyo', date_range: [start, '2026-01-01T14:59:59Z'] },
      errors: fault('date_range', 'must not start after its end'),
    },
    // In New York it has not.
    {
      given: { time_zone: 'America/New_York', date_range: [start, '2026-01-02T04:59:59Z'] },
      errors: fault('date_range', 'must not start after its end'),
    },
  ] as readonly { given: Partial<AnalyticsQueryRequest>; errors: unknown }[])(
    'of $given',
    ({ given, errors }) => {
      expect(checkRules(createRequest(given))).toEqual(errors)
    },
  )
})

describe('the comparison', () => {
  const fault = (field: string, message: string) => [{ field, message }]
  const noAlign = fault('compare_align', 'needs compare: previous_period or previous_year')
  test.each([
    { given: { compare: 'previous_period' }, errors: [] },
    { given: { compare: 'previous_year', compare_align: 'weekday' }, errors: [] },
    { given: { compare: [start, start] }, errors: [] },
    { given: { compare_align: 'weekday' }, errors: noAlign },
    { given: { compare: [start, start], compare_align: 'weekday' }, errors: noAlign },
    {
      given: { compare: [start, '2026-01-01'] },
      errors: fault('compare', 'must not start after its end'),
    },
    {
      given: { compare: [start, '2026-01-01T14:59:59Z'], time_zone: 'Asia/Tokyo' },
      errors: fault('compare', 'must not start after its end'),
    },
    { given: { compare: [start, '2026-01-01T15:00:00Z'], time_zone: 'Asia/Tokyo' }, errors: [] },
    {
      given: { compare: ['2011-12-30', '2011-12-30'], time_zone: 'Pacific/Apia' },
      errors: fault('compare', 'must not be a day that Pacific/Apia skipped'),
    },
  ] as readonly { given: Partial<AnalyticsQueryRequest>; errors: unknown }[])(
    'of $given',
    ({ given, errors }) => {
      expect(checkRules(createRequest(given))).toEqual(errors)
    },
  )
})

describe('the field to order by', () => {
  test.each([
    { given: { order_by: [['events', 'asc']] } },
    { given: { metrics: ['bounce_rate'], order_by: [['bounce_rate', 'asc']] } },
    { given: { group_by: ['country'], order_by: [['country', 'desc']] } },
    { given: { group_by: ['event:prop:plan'], order_by: [['event:prop:plan', 'desc']] } },
    { given: { group_by: ['interval:auto'], order_by: [['date', 'desc']] } },
    { given: { group_by: ['interval:auto'], order_by: [['interval:auto', 'desc']] } },
  ] as readonly { given: Partial<AnalyticsQueryRequest> }[])(
    'may be the one of $given',
    ({ given }) => {
      expect(checkRules(createRequest(given))).toEqual([])
    },
  )

  test.each([
    { given: { metrics: ['users'] }, field: 'pageviews', known: 'users' },
    { given: {}, field: 'date', known: 'users, pageviews, events' },
    { given: {}, field: 'constructor', known: 'users, pageviews, events' },
    { given: {}, field: '', known: 'users, pageviews, events' },
    { given: { group_by: ['country'] }, field: 'city', known: 'users, pageviews, events, country' },
    { given: { group_by: ['country'] }, field: 'date', known: 'users, pageviews, events, country' },
    {
      given: { group_by: ['interval:auto'] },
      field: 'country',
      known: 'users, pageviews, events, interval:auto, date',
    },
  ] as readonly { given: Partial<AnalyticsQueryRequest>; field: string; known: string }[])(
    'may not be $field with $given',
    ({ given, field, known }) => {
      expect(checkRules(createRequest({ ...given, order_by: [[field, 'asc']] }))).toEqual([
        {
          field: 'order_by.0.0',
          message: `must be a metric or the grouping of this query, one of: ${known}`,
        },
      ])
    },
  )
})

describe('string clauses', () => {
  const clause = { operator: 'eq', value: 'x' } as const
  const page: Filter = { type: 'page', origin: clause, path: clause, hash: clause }
  const event = (properties: number): Filter => ({
    type: 'event',
    name: clause,
    properties: Array.from({ length: properties }, () => ({ property: 'p', ...clause })),
  })
  const lists: readonly Filter[] = [
    { type: 'user', anonymous: true },
    { type: 'location', country: { operator: 'oneOf', value: ['DE'] } },
    { type: 'browser', operator: 'oneOf', value: ['Firefox'] },
    { type: 'device', operator: 'oneOf', value: ['mobile'] },
    { type: 'os', operator: 'oneOf', value: ['iOS'] },
    { type: 'referrer_type', operator: 'oneOf', value: ['search'] },
  ]
  const utm: Filter = {
    type: 'utm_tags',
    utm_campaign: clause,
    utm_content: clause,
    utm_medium: clause,
    utm_source: clause,
    utm_term: clause,
  }

  test.each([
    { filters: [event(39)], count: 40 },
    { filters: [event(39), ...lists], count: 40 },
    { filters: [event(40)], count: 41 },
    { filters: [event(36), page], count: 40 },
    { filters: [event(37), page], count: 41 },
    { filters: [event(35), utm], count: 41 },
    {
      filters: [event(38), { type: 'referrer', ...clause }, { type: 'referrer_url', ...clause }],
      count: 41,
    },
    { filters: [event(39), { type: 'event' }, { type: 'page' }, { type: 'utm_tags' }], count: 40 },
  ] as readonly { filters: readonly Filter[]; count: number }[])(
    '$count clauses in total; at most 40 are allowed',
    ({ filters, count }) => {
      const message = `must hold at most 40 string clauses in all, and hold ${count}`
      expect(checkRules(createRequest({ filters }))).toEqual(
        count <= 40 ? [] : [{ field: 'filters', message }],
      )
    },
  )
})

test('a rule is not checked if one of its fields is invalid by itself', () => {
  const request = createRequest({
    date_range: ['2026-01-02', '2026-01-01'],
    order_by: [['date', 'asc']],
  })
  expect(checkRules(request).map(({ field }) => field)).toEqual(['date_range', 'order_by.0.0'])
  expect(checkRules(request, new Set(['metrics', 'limit'])).map(({ field }) => field)).toEqual([
    'date_range',
  ])
})
