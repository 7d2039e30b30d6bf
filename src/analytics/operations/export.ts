/** The operation `export`: the single events of a period, as a stream. */
import type { EventField, ExportRequest } from '../../contract/api.js'
import { exportEvents, type ExportedEvents, type ExportedRow } from '../export/export-events.js'
import { checkDateRange, checkTimeZone } from '../request/cross-field-rules.js'
import { checkFilterLimits } from '../request/filter-limits.js'
import type { OperationBase, Streaming } from '../operation.js'
import {
  createTable,
  writePeriod,
  type Cell,
  type ColumnType,
  type SourceColumn,
  type Table,
} from '../table.js'

export const EXPORT: OperationBase<ExportRequest> & Streaming<ExportRequest> = {
  name: 'export',
  path: '/v1/events/export',
  scope: 'export',
  hasTimeZone: true,
  rules: [
    { fields: ['time_zone'], check: checkTimeZone },
    { fields: ['date_range', 'time_zone'], check: checkDateRange },
    { fields: ['filters'], check: ({ filters }) => checkFilterLimits(filters) },
  ],
  queue: 'exports',
  stream: (request, project, dependencies, send) =>
    exportEvents(request, project, dependencies, (events) =>
      send({
        table: describeEvents(events),
        head: { period: events.period, query: events.query },
      }),
    ),
}

/** The types of columns. All others are texts. */
const TYPES: Readonly<Partial<Record<EventField, ColumnType>>> = {
  timestamp: 'moment',
  anonymous: 'boolean',
  properties: 'json',
}

/** Describes events that are on their way. */
export const describeEvents = ({ period, query, batches }: ExportedEvents): Table =>
  createTable(query.fields.map(toColumn), batches, { period: writePeriod(period) })

const toColumn = (name: EventField): SourceColumn<ExportedRow> => ({
  name,
  type: TYPES[name] ?? 'text',
  read: (row) => readCell(row, name),
})

function readCell(row: ExportedRow, field: EventField): Cell {
  if (field === 'timestamp') return new Date(row.moment).toISOString()
  const value = row[field] ?? ''
  return typeof value === 'object' ? JSON.stringify(value) : value
}
