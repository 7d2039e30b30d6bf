/** The forms in which events come in files. */

export const FORMATS = ['ndjson', 'csv', 'parquet', 'arrow', 'log'] as const

/** `arrow` is Arrow's IPC, file or stream; `log` the Common and the Combined Log Format. */
export type Format = (typeof FORMATS)[number]

/** A source cannot be read as events at all; its message is to stand behind the source's name. */
export class SourceError extends Error {
  override readonly name = 'SourceError'
}
