/** The columns of the facts, in the order the loader writes them. */
import { sql, type Sql } from '../clickhouse/sql.js'
import { DIMENSION_ROWS, type DimensionName } from './dimensions.js'
import { SESSION_ATTRIBUTES } from './event-fields.js'

/** The columns of the session attributes, which all events of a session share. */
export const ATTRIBUTES: readonly Sql[] = SESSION_ATTRIBUTES.map(({ column }) => column)

/** The columns in which events of one session may differ. */
export const OWN_COLUMNS: readonly Sql[] = [
  sql`name`,
  sql`anonymous`,
  sql`origin`,
  sql`path`,
  sql`hash`,
  sql`properties`,
]

export const EVENT_COLUMNS: readonly Sql[] = [
  sql`project_id`,
  sql`timestamp`,
  sql`user`,
  sql`session`,
  sql`load`,
  ...OWN_COLUMNS,
  ...ATTRIBUTES,
]

/** The columns of `sessions` besides the session attributes. */
export const SESSION_STATE_COLUMNS: readonly Sql[] = [
  sql`project_id`,
  sql`session`,
  sql`load`,
  sql`sign`,
  sql`user`,
  sql`session_id`,
  sql`start_at`,
  sql`end_at`,
  sql`pageviews`,
  sql`events`,
  sql`pageleaves`,
  sql`entry_origin`,
  sql`entry_path`,
  sql`entry_at`,
  sql`exit_path`,
  sql`exit_at`,
]

export const SESSION_COLUMNS: readonly Sql[] = [...SESSION_STATE_COLUMNS, ...ATTRIBUTES]

interface CountedAttribute {
  readonly dimension: DimensionName
  /** Writes its value. `read` writes how a column of a session attribute is read. */
  readonly write: (read: (column: Sql) => Sql) => Sql
}

/** The session attributes that rollups have as groups. */
export const COUNTED_ATTRIBUTES: readonly CountedAttribute[] = DIMENSION_ROWS.flatMap(
  ({ name, rollupSubject, sessionColumn, compute }) =>
    rollupSubject === 'sessions' && sessionColumn !== undefined
      ? [{ dimension: name, write: compute ?? ((read) => read(sessionColumn)) }]
      : [],
)

/** The columns that they are read from. */
export const COUNTED_COLUMNS: readonly Sql[] = DIMENSION_ROWS.flatMap(
  ({ rollupSubject, sessionColumn, compute }) =>
    rollupSubject === 'sessions' && sessionColumn !== undefined && compute === undefined
      ? [sessionColumn]
      : [],
)

/** The columns of `event_changes`, besides `session`, `sign` and `COUNTED_COLUMNS`. */
export const CHANGE_COLUMNS: readonly Sql[] = [
  sql`project_id`,
  sql`timestamp`,
  sql`user`,
  sql`name`,
  sql`origin`,
  sql`path`,
  sql`properties`,
]
