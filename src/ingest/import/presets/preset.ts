/** A preset says how the rows of another tool's export become events. */

/** A row of an export: a record of CSV by the names of its columns, or a JSON object. */
export type ForeignRow = Readonly<Record<string, unknown>>

/** Values of an event by their targets, such as `user_id` and `properties.plan`; empty and undefined ones are absent. */
export type EventValues = Readonly<Record<string, unknown>>

/** What `toEvents` reads itself. */
export const READ = 'read'
/** What events have no field for. */
export const LEFT_OUT = 'left out'

export interface Preset {
  /** The export, as errors name it. */
  readonly title: string
  /** `json` are objects in an array, or one after the other. */
  readonly format: 'csv' | 'json'
  /** The columns, or keys, that every row must have. */
  readonly required: readonly string[]
  /** The target of each column that all events of a row share, or `READ`, or `LEFT_OUT`. */
  readonly columns: Readonly<Record<string, string>>
  /** Returns what the columns do not give, for each event of a row; nothing if the row is no event. */
  readonly toEvents: (row: ForeignRow) => readonly EventValues[]
}

/** Returns a text, or a number as text; the empty text for any other value. */
export const toText = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''
