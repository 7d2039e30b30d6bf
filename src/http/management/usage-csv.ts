/** Usage as CSV, for the command line and for management. */
import type { Cell } from '../../analytics/table.js'
import type { Usage } from '../../usage/read-usage.js'
import { writeCsvRow } from '../formats/csv.js'

/** The columns, each with its value. */
const COLUMNS: readonly (readonly [name: string, read: (row: Usage) => Cell])[] = [
  ['project', ({ project }) => project],
  ['start', ({ start }) => start],
  ['accepted', ({ accepted }) => accepted],
  ['counted', ({ counted }) => counted],
  ['excluded_bots', ({ excluded }) => excluded.bots],
  ['excluded_addresses', ({ excluded }) => excluded.addresses],
  ['excluded_countries', ({ excluded }) => excluded.countries],
  ['rejected_unreadable', ({ rejected }) => rejected.unreadable],
  ['rejected_size', ({ rejected }) => rejected.size],
  ['rejected_users', ({ rejected }) => rejected.users],
  ['rejected_timestamp', ({ rejected }) => rejected.timestamp],
  ['rejected_field', ({ rejected }) => rejected.field],
  ['rejected_other', ({ rejected }) => rejected.other],
  ['repeated', ({ repeated }) => repeated],
  ['waiting', ({ waiting }) => waiting],
  ['queries', ({ queries }) => queries],
  ['bytes', ({ bytes }) => bytes],
  ['deleted', ({ isDeleted }) => String(isDeleted)],
]

/** Formats usage as CSV, with a header. */
export const formatUsageCsv = (rows: readonly Usage[]): string =>
  [
    writeCsvRow(COLUMNS.map(([name]) => name)),
    ...rows.map((row) => writeCsvRow(COLUMNS.map(([, read]) => read(row)))),
  ].join('\r\n')
