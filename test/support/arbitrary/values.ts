/** Random requests for the values of fields. */
import fc from 'fast-check'
import type { ValuesRequest } from '../../../src/contract/api.js'
import { rollupRequest } from './rollups.js'

const field = fc.oneof(
  { weight: 4, arbitrary: fc.constant('event:prop' as const) },
  {
    weight: 3,
    arbitrary: fc.constantFrom<ValuesRequest['field']>(
      ...(['page:path', 'country', 'utm_source', 'region', 'channel', 'page:entry'] as const),
      ...(['event:name', 'event:prop:plan', 'event:prop:a.b'] as const),
    ),
  },
)

/** Requests about the periods of `rollupRequest`. Some texts are in no value, and some are wildcards elsewhere. */
export const valuesRequest: fc.Arbitrary<ValuesRequest> = fc
  .record({
    field,
    asked: rollupRequest,
    search: fc.constantFrom('', '', '', '', 'a', 'l', '.', '/', '%', 'é'),
    limit: fc.constantFrom(1, 2, 100, 100),
    isFiltered: fc.boolean(),
  })
  .map(({ asked: { date_range, filters = [], filtersOperator }, isFiltered, ...rest }) => ({
    ...rest,
    date_range,
    ...(isFiltered ? { filters } : {}),
    ...(isFiltered && filtersOperator !== undefined ? { filtersOperator } : {}),
  }))
