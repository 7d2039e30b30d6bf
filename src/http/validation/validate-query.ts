/** What is checked of queries, and of requests for values, beside their schemas. */
import type { Request } from 'express'
import { checkDateRange, RULES } from '../../analytics/request/cross-field-rules.js'
import { checkFilterLimits } from '../../analytics/request/filter-limits.js'
import { TABLE_TYPES } from '../../contract/answer-formats.js'
import type { AnalyticsQueryRequest, FieldError, ValuesRequest } from '../../contract/api.js'
import { isRecord } from '../../lib/records.js'
import { findTooDeep, type OperationChecks } from './validate-operations.js'

export const QUERY_CHECKS: OperationChecks<AnalyticsQueryRequest> = {
  rules: RULES,
  findTooDeep,
  normalize: omitEmptyMetrics,
  checkHeaders: ({ limit }, request) => (limit === 'all' ? checkFormatOfAll(request) : []),
}

export const VALUES_CHECKS: OperationChecks<ValuesRequest> = {
  rules: [
    { fields: ['date_range'], check: checkDateRange },
    { fields: ['filters'], check: ({ filters = [] }) => checkFilterLimits(filters) },
  ],
  findTooDeep,
}

/** Omits an empty `metrics`: it means the default. */
function omitEmptyMetrics(body: unknown): unknown {
  if (!isRecord(body) || !Array.isArray(body['metrics']) || body['metrics'].length > 0) return body
  return omitMetrics(body)
}

const omitMetrics = ({ metrics: _, ...rest }: Readonly<Record<string, unknown>>): object => rest

/** JSON has no rows before its end, so an answer of any length is not JSON. */
const checkFormatOfAll = ({ answerFormat = 'json' }: Request): readonly FieldError[] =>
  answerFormat === 'json'
    ? [
        {
          field: 'limit',
          message: `is all, which needs one of these in Accept: ${TABLE_TYPES.join(', ')}`,
        },
      ]
    : []
