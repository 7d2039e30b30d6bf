/** Ends changes: one that its process has finished, and those that killed processes left. */
import type { Connection } from '../clickhouse/connection.js'
import { boolean, sql, statement, string, strings, uint64, type Sql } from '../clickhouse/sql.js'
import { SECOND_MS } from '../lib/time.js'

/** The number of the next row of `project_changes`. */
export const NEXT_CHANGE = sql`(SELECT max(change) FROM project_changes) + 1`

/** The columns of a state that may differ from those of the row before. */
interface NextState {
  readonly isOpen: boolean
  readonly published: Sql
  readonly hiddenUsers?: Sql
  readonly keptFrom?: Sql
  /** As before if left out. */
  readonly replaced?: Replaced | typeof NONE
}

/** The groups of users that a change has written again, and whose earlier rows are still stored. */
export interface Replaced {
  /** Selects the project of each group, and the hash of the group. Each row of a group is of a project of the change. */
  readonly groups: Sql
  /** The rows with a lower `generation` are replaced. */
  readonly before: number
}

/** No replaced groups. */
const NONE = 'none'

/** All columns of a state. */
export const STATE_COLUMNS = sql`
project_id, change, is_open, announcement, published, hidden_users, kept_from, replaced_groups, replaced_before`

/** Writes the next row of each open change that fulfils a condition. */
export const writeStates = (
  writer: Connection,
  isChanged: Sql,
  {
    isOpen,
    published,
    hiddenUsers = sql`hidden_users`,
    keptFrom = sql`kept_from`,
    replaced,
  }: NextState,
): Promise<void> =>
  writer.execute(
    statement(sql`
INSERT INTO project_changes (${STATE_COLUMNS})
SELECT
  project_id, ${NEXT_CHANGE}, ${boolean(isOpen)}, ${isOpen ? sql`announcement` : sql`generateUUIDv4()`},
  ${published}, ${hiddenUsers}, ${keptFrom}, ${replaced === undefined ? sql`replaced_groups, replaced_before` : selectGroups(replaced)}
FROM project_changes FINAL WHERE is_open AND ${isChanged}`),
  )

const NO_GROUPS = sql`[], 0`

const selectGroups = (replaced: Replaced | typeof NONE): Sql =>
  replaced === NONE
    ? NO_GROUPS
    : sql`
  (
    SELECT CAST((groupArray(project_id), groupArray(hashes)), 'Map(String, Array(UInt128))')
    FROM (SELECT toString(project_id) AS project_id, groupArray(hash) AS hashes FROM (${replaced.groups}) GROUP BY project_id)
  )[project_id],
  ${uint64(replaced.before)}`

/**
 * Records that the replaced rows of groups are deleted. The data is the same, and so are its versions.
 *
 * @param before as it was when the rows were replaced
 */
export const endReplacing = (writer: Connection, before: number): Promise<void> =>
  writer.execute(
    statement(sql`
INSERT INTO project_changes (${STATE_COLUMNS})
SELECT project_id, ${NEXT_CHANGE}, is_open, announcement, published, hidden_users, kept_from, ${NO_GROUPS}
FROM project_changes FINAL WHERE replaced_before = ${uint64(before)}`),
  )

/** Ends the open changes that fulfil a condition. @param replaced the groups that they have replaced */
export const endChanges = (
  writer: Connection,
  isEnded: Sql,
  replaced: Replaced | typeof NONE = NONE,
): Promise<void> =>
  writeStates(writer, isEnded, { isOpen: false, published: sql`published`, replaced })

/** Counts the open changes that fulfil a condition. */
export async function countOpenChanges(connection: Connection, isCounted: Sql): Promise<number> {
  const { rows } = await connection.query<{ changes: number }>(
    statement(
      sql`SELECT count() AS changes FROM project_changes FINAL WHERE is_open AND ${isCounted}`,
    ),
  )
  return rows[0]?.changes ?? 0
}

/**
 * Ends the changes that were interrupted, or never began. The caller holds the loader lease and has finished what earlier
 * holders left, so nothing is half visible, and no replaced row is stored.
 */
export async function endLeftChanges(writer: Connection): Promise<void> {
  const { rows } = await writer.query<{ announcement: string; isOpen: boolean; before: number }>(
    statement(sql`
SELECT DISTINCT toString(announcement) AS announcement, is_open AS isOpen, replaced_before AS before
FROM project_changes FINAL WHERE is_open OR replaced_before > 0`),
  )
  // Only these: if this process is suspended here, the next holder of the lease announces changes of its own.
  const left = rows.filter(({ isOpen }) => isOpen).map(({ announcement }) => announcement)
  if (left.length > 0) await endChanges(writer, sql`has(${strings(left)}, toString(announcement))`)
  const replaced = new Set(rows.map(({ before }) => before).filter((before) => before > 0))
  for (const before of replaced) await endReplacing(writer, before)
}

/**
 * Deletes the row of a project that is being deleted. Every other project gets another version first, and that row keeps
 * the highest number: a service that has seen the deleted row would not read later rows with lower numbers.
 */
export async function forgetChanges(writer: Connection, projectId: string): Promise<void> {
  await writer.execute(
    statement(sql`
INSERT INTO project_changes (project_id, change, is_open, announcement)
SELECT '', ${NEXT_CHANGE}, false, generateUUIDv4()`),
  )
  await writer.execute(
    statement(sql`DELETE FROM project_changes WHERE project_id = ${string(projectId)}`),
  )
}

/** How often an idle loader looks. While a change is left open, no response about its project is kept. */
const LOOK_INTERVAL_MS = 10 * SECOND_MS

/**
 * Creates a function that reports whether any change is unfinished, from a live or a killed process: it is open, or has hidden or
 * replaced rows that are still stored. It queries at most every 10 s and returns false in between.
 *
 * @param now a monotonic clock, in milliseconds
 */
export function lookForUnfinishedChanges(
  connection: Connection,
  now = () => performance.now(),
): () => Promise<boolean> {
  let lookedAt = now()
  return async () => {
    if (now() - lookedAt < LOOK_INTERVAL_MS) return false
    lookedAt = now()
    const { rows } = await connection.query(
      statement(sql`
SELECT 1 FROM project_changes FINAL
WHERE is_open OR notEmpty(hidden_users) OR kept_from > toDate(0) OR replaced_before > 0 LIMIT 1`),
    )
    return rows.length > 0
  }
}
