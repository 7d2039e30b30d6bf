/** The table that an answer is in formats other than JSON, computed from the JSON. */
import type { TableFormat } from '../../../src/contract/response-formats.js'
import type { AnalyticsQueryResponse } from '../../../src/contract/api.js'
import type { ReadTable } from './read-table.js'

type ResponseRow = Readonly<Record<string, string | number | null>>

/** Computes what is read of a table with the rows of an answer. */
export function toExpectedTable(
  format: TableFormat,
  { period, query, pagination, data, comparison, totals, metadata }: AnalyticsQueryResponse,
): ReadTable {
  const metricNames = query.metrics.map((metric) =>
    typeof metric === 'string' ? metric : metric.as,
  )
  const names = [
    ...[...query.group_by, ...(query.then_by ?? [])].map((token) =>
      token.startsWith('interval:') ? 'date' : token,
    ),
    ...metricNames,
    ...(comparison === undefined ? [] : metricNames.map((name) => `comparison_${name}`)),
    ...(comparison === undefined ? [] : metricNames.map((name) => `comparison_change_${name}`)),
  ]
  const rows = data.map(({ group, metrics, comparison: compared }) => {
    const row = {
      ...group,
      ...metrics,
      ...addPrefix('comparison_', compared?.metrics),
      ...addPrefix('comparison_change_', compared?.change),
    } as ResponseRow
    return format === 'csv' ? toTexts(row) : row
  })
  const hasMetadata = format === 'arrow' || format === 'parquet'
  return {
    names: format === 'ndjson' && rows.length === 0 ? [] : names,
    rows,
    metadata: hasMetadata
      ? {
          'tally.period': `${period.from}/${period.to}`,
          'tally.total': String(pagination.total),
          'tally.limit': String(pagination.limit),
          'tally.offset': String(pagination.offset),
          ...(comparison === undefined
            ? {}
            : { 'tally.comparison': `${comparison.period.from}/${comparison.period.to}` }),
          ...(totals === undefined ? {} : { 'tally.totals': JSON.stringify(totals) }),
          ...(metadata === undefined ? {} : { 'tally.metadata': JSON.stringify(metadata) }),
        }
      : {},
  }
}

const toTexts = (row: ResponseRow): ResponseRow =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, value === null ? null : String(value)]),
  )

const addPrefix = (prefix: string, values: object = {}): object =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [prefix + name, value as unknown]),
  )
