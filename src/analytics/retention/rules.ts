/** The rules of a request for retention that its schema cannot express. */
import type { FieldError, RetentionRequest } from '../../contract/api.js'
import { checkDateRange, type Rule } from '../request/cross-field-rules.js'
import { checkFilterLimits } from '../request/filter-limits.js'
import { isBounds, resolveRange } from '../request/period.js'
import { checkGridSize } from './grid.js'

export const RETENTION_RULES: readonly Rule<RetentionRequest>[] = [
  { fields: ['date_range'], check: checkDateRange },
  { fields: ['date_range', 'interval', 'intervals'], check: checkSize },
  { fields: ['filters'], check: ({ filters }) => checkFilterLimits(filters) },
]

/** Checks the size of a table whose period is known. A table of a preset is checked when the preset is resolved. */
function checkSize(request: RetentionRequest): readonly FieldError[] {
  const { date_range: range } = request
  if (!isBounds(range) || checkDateRange(request).length > 0) return []
  return checkGridSize(request, resolveRange(range))
}
