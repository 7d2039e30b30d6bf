/** Describes exported events as a table. */
import type { ExportedEvents, ExportedRow } from '../../analytics/export/export-events.js'
import type { EventField } from '../../contract/api.js'
import type { Cell, ColumnType, Table } from './table.js'

/** The types of columns. All others are texts. */
const TYPES: Readonly<Partial<Record<EventField, ColumnType>>> = {
  timestamp: 'moment',
  anonymous: 'boolean',
  properties: 'json',
}

/** Describes events that are on their way. */
export const describeEvents = ({ period, query: { fields }, batches }: ExportedEvents): Table => ({
  columns: fields.map((name) => ({ name, type: TYPES[name] ?? 'text' })),
  facts: { period: `${period.from}/${period.to}` },
  batches: readBatches(fields, batches),
})

async function* readBatches(
  fields: readonly EventField[],
  batches: ExportedEvents['batches'],
): Table['batches'] {
  for await (const rows of batches) {
    yield rows.map((row) => fields.map((field) => readCell(row, field)))
  }
}

function readCell(row: ExportedRow, field: EventField): Cell {
  if (field === 'timestamp') return new Date(row.moment).toISOString()
  const value = row[field] ?? ''
  return typeof value === 'object' ? JSON.stringify(value) : value
}
