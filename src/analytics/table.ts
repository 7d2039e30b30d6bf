/** Tables: what responses are in formats other than JSON. */

/**
 * What a column holds.
 *
 * - `integer`: whole numbers within ±2^53, `number`: others
 * - `moment`: moments in UTC as texts of ISO 8601 with milliseconds
 * - `json`: texts of JSON, which NDJSON contains as values
 */
export type ColumnType = 'text' | 'integer' | 'number' | 'boolean' | 'moment' | 'json'

export interface Column {
  readonly name: string
  readonly type: ColumnType
}

export type Cell = string | number | boolean | null

/** The cells of a row, in the order of the columns. */
export type TableRow = readonly Cell[]

/** What a response says besides its rows, as texts: `period`, `total`, `limit`, `offset`, … */
export type Facts = Readonly<Record<string, string>>

export interface Table {
  readonly columns: readonly Column[]
  readonly facts: Facts
  /** The rows, some at a time. It throws when they break off. */
  readonly batches: AsyncIterable<readonly TableRow[]>
}

/** A column, and where its cells are in the rows of the JSON. */
export interface SourceColumn<Source> extends Column {
  readonly read: (row: Source) => Cell | undefined
}

/** The rows of the JSON, some at a time. */
export type Batches<Source> = AsyncIterable<readonly Source[]> | Iterable<readonly Source[]>

/** Creates a table from the rows of the JSON. */
export const createTable = <Source>(
  columns: readonly SourceColumn<Source>[],
  batches: Batches<Source>,
  facts: Facts,
): Table => ({
  columns: columns.map(({ name, type }) => ({ name, type })),
  facts,
  batches: readBatches(columns, batches),
})

async function* readBatches<Source>(
  columns: readonly SourceColumn<Source>[],
  batches: Batches<Source>,
): Table['batches'] {
  for await (const rows of batches) {
    yield rows.map((row) => columns.map(({ read }) => read(row) ?? null))
  }
}

/** Writes a period as ISO 8601 does an interval; but both ends are included. */
export const writePeriod = ({ from, to }: { readonly from: string; readonly to: string }): string =>
  `${from}/${to}`
