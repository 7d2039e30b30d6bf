/** The formats of responses, and their media types. */

/** The media type of each format; that of the default comes first. */
export const MEDIA_TYPES = {
  json: 'application/json',
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  arrow: 'application/vnd.apache.arrow.stream',
  parquet: 'application/vnd.apache.parquet',
} as const

export type ResponseFormat = keyof typeof MEDIA_TYPES

/** A format of a table: columns and rows, of any number. */
export type TableFormat = Exclude<ResponseFormat, 'json'>

/** The media types of tables. */
export const TABLE_TYPES: readonly string[] = Object.values(MEDIA_TYPES).filter(
  (type) => type !== MEDIA_TYPES.json,
)
