/** Reads the last row of projects in `project_changes`: the states of their data. */
import type { Connection, QueryOptions } from '../clickhouse/connection.js'
import { sql, statement, type Sql } from '../clickhouse/sql.js'

/** The key of the changes of all projects. */
export const ALL = ''

/** The last row of a project, or of all projects. */
export interface State {
  readonly isOpen: boolean
  /** Differs from that of every other row. */
  readonly version: string
  /** The version of the last change that was published, if only in part. */
  readonly published: string
  /** Whether rows are hidden that are being deleted. */
  readonly isHiding: boolean
  /** Whether rows of rollups are replaced that are still stored. */
  readonly isReplacing: boolean
  /** Whether the pairs of the project are counted completely. That changes only together with the version. */
  readonly isPaired: boolean
}

export interface ProjectState extends State {
  readonly project: string
  readonly number: number
}

/** Whether a change is being published, so that queries may see a part of it. */
export const isPublishing = ({ isOpen, version, published }: State): boolean =>
  isOpen && version === published

/** Reads the last row of each project among the rows that fulfil a condition. */
export async function readStates(
  connection: Connection,
  isAsked: Sql,
  signal: NonNullable<QueryOptions['signal']>,
): Promise<readonly ProjectState[]> {
  // Of rows with the same number, which only a process without the lease can write, an open one counts.
  const { rows } = await connection.query<ProjectState>(
    statement(sql`
SELECT
  project_id AS project,
  max((change, is_open, announcement, project_changes.published, notEmpty(hidden_users) OR kept_from > toDate(0), replaced_before > 0)) AS newest,
  newest.1 AS number, newest.2 AS isOpen, newest.3 AS version, newest.4 AS published, newest.5 AS isHiding, newest.6 AS isReplacing,
  project_id IN (SELECT project_id FROM paired_projects WHERE is_complete) AS isPaired
FROM project_changes WHERE ${isAsked} GROUP BY project_id`),
    { signal, settings: { max_threads: 1 } },
  )
  return rows
}
