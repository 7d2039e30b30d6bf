/** The rules of a request for events that its schema cannot express. */
import type { ExportRequest } from '../../contract/api.js'
import { checkDateRange, checkTimeZone, type Rule } from '../request/cross-field-rules.js'
import { checkFilterLimits } from '../request/filter-limits.js'

export const EXPORT_RULES: readonly Rule<ExportRequest>[] = [
  { fields: ['time_zone'], check: checkTimeZone },
  { fields: ['date_range', 'time_zone'], check: checkDateRange },
  { fields: ['filters'], check: ({ filters }) => checkFilterLimits(filters) },
]
