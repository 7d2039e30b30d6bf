/** The formats of the file import, and the errors of a source that does not follow its format. */

export const FORMATS = ['ndjson', 'csv', 'parquet', 'arrow', 'log'] as const

/** `arrow` is Arrow IPC, as a file or a stream; `log` is the Common or the Combined Log Format. */
export type Format = (typeof FORMATS)[number]

/** The source cannot be read as events at all. The message continues a sentence that starts with the source's name. */
export class SourceError extends Error {
  override readonly name = 'SourceError'
}

/** A line exceeds the size limit, so the source is probably not text. */
export class LineTooLongError extends Error {
  override readonly name = 'LineTooLongError'

  constructor(row: number, maxBytes: number) {
    super(`row ${row}: is longer than ${maxBytes} bytes`)
  }
}
