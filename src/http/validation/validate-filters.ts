/** Validates filters that are not those of a request, as those of a query. */
import { QUERY } from '../../analytics/operations/query.js'
import type { Filter } from '../../contract/api.js'
import type { ValidateBody } from './validate-body.js'

/** Validates filters. @throws ApiError VALIDATION_ERROR that names the places in `filters` */
export const validateFilters = (validate: ValidateBody, filters: unknown): readonly Filter[] =>
  validate(QUERY, { date_range: 'today', filters }).filters
