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
  /**
   * The generation of the rows of rollups that have replaced others, which are still stored; 0 if there are none. It is the number of a
   * load, and the next one begins when the replaced rows are gone, so all projects of a store have the same, or 0.
   */
  readonly replacedBefore: number
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
  // Services ask this ten times a second. To choose the last rows would cost the engine more than to send all that are not merged yet.
  const { rows } = await connection.query<ProjectState>(
    statement(sql`
SELECT
  project_id AS project, change AS number, is_open AS isOpen, announcement AS version, published,
  notEmpty(hidden_users) OR kept_from > toDate(0) AS isHiding, replaced_before AS replacedBefore,
  project_id IN (SELECT project_id FROM paired_projects WHERE is_complete) AS isPaired
FROM project_changes WHERE ${isAsked}`),
    { signal, settings: { max_threads: 1 } },
  )
  const last = new Map<string, ProjectState>()
  for (const row of rows) {
    const other = last.get(row.project)
    if (other === undefined || isLater(row, other)) last.set(row.project, row)
  }
  return [...last.values()]
}

/** Of rows with the same number, which only a process without the lease can write, an open one counts. */
const isLater = (one: ProjectState, other: ProjectState): boolean =>
  one.number === other.number ? one.isOpen && !other.isOpen : one.number > other.number
