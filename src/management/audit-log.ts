/** The audit log: who changed what. An entry is written when its change is made, and is never changed. */
import type { Connection } from '../clickhouse/connection.js'
import { joinInserts } from '../clickhouse/joined-calls.js'
import { and, sql, statement, string, TRUE, uint32, uint64, type Sql } from '../clickhouse/sql.js'
import { randomId } from '../lib/random-id.js'
import type { StoredProject } from '../projects/project.js'
import type { ManagementContext } from './context.js'
import { cutPage, parseCursor } from './page.js'

/** What was changed: the kind of thing, and what was done to it. */
export type Action =
  | 'project.create'
  | 'project.update'
  | 'project.rotate-token'
  | 'project.delete'
  | 'key.issue'
  | 'key.revoke'
  | 'users.delete'
  | 'note.create'
  | 'note.delete'
  | 'import.start'
  | `${'goal' | 'segment'}.${'create' | 'update' | 'delete'}`

export type Values = Readonly<Record<string, unknown>>

export interface AuditEntry {
  readonly at: Date
  readonly actor: string
  readonly action: string
  readonly projectId: string
  /** The id of what was changed in the project; null for the project itself. */
  readonly target: string | null
  /** What was changed, without secrets; null for what was created. */
  readonly before: Values | null
  /** The same after the change; null for what was deleted. */
  readonly after: Values | null
}

interface Recorded {
  readonly action: Action
  readonly project: Pick<StoredProject, 'id' | 'org'>
  readonly target?: string
  readonly before?: Values
  readonly after?: Values
}

/** Records a change. @param recorded without secrets */
export function recordChange(context: ManagementContext, recorded: Recorded): Promise<void> {
  const { action, project, target = '', before, after } = recorded
  return insertEntry(
    context.cluster.home.store.writer,
    sql`${string(randomId('chg_', 12))}, ${string(context.actor)}, ${string(action)}, ${string(project.id)},
  ${string(project.org ?? '')}, ${string(target)}, ${toJson(before)}, ${toJson(after)}`,
  )
}

const insertEntry = joinInserts(
  sql`audit_log (id, actor, action, project_id, org, target, before, after)`,
)

/** Records the deletion of a project. */
export const recordProjectDeletion = (
  context: ManagementContext,
  project: Pick<StoredProject, 'id' | 'org' | 'name' | 'domain'>,
): Promise<void> => {
  const { name, domain } = project
  return recordChange(context, { action: 'project.delete', project, before: { name, domain } })
}

/**
 * Records the deletion of users. Who was deleted must be found nowhere afterwards, so the log has their number alone.
 *
 * @param operation the id of the operation that deletes them; left out for a command
 */
export const recordUserDeletion = (
  context: ManagementContext,
  project: Pick<StoredProject, 'id' | 'org'>,
  users: number,
  operation?: string,
): Promise<void> =>
  recordChange(context, {
    action: 'users.delete',
    project,
    ...(operation === undefined ? {} : { target: operation }),
    before: { users },
  })

const toJson = (values: Values | undefined): Sql =>
  string(values === undefined ? '' : JSON.stringify(values))

interface AuditFilter {
  /** Null for the changes of all projects. */
  readonly org: string | null
  readonly projectId?: string | undefined
  readonly limit: number
  /** Where the page before ended. */
  readonly cursor?: string | undefined
}

interface AuditPage {
  readonly entries: readonly AuditEntry[]
  /** Where the next page begins; null after the last entry. */
  readonly nextCursor: string | null
}

interface AuditRow {
  readonly id: string
  /** Microseconds since 1970. */
  readonly at_us: number
  readonly actor: string
  readonly action: string
  readonly project_id: string
  readonly target: string
  readonly before: string
  readonly after: string
}

const CURSOR = /^(\d{1,16})-(chg_[a-z0-9]{12})$/

/** Returns a page of changes, the latest first. @throws FieldValueError for a cursor that no page gave */
export async function listChanges(
  writer: Connection,
  { org, projectId, limit, cursor }: AuditFilter,
): Promise<AuditPage> {
  const isAsked = and([
    org === null ? TRUE : sql`org = ${string(org)}`,
    projectId === undefined ? TRUE : sql`project_id = ${string(projectId)}`,
    cursor === undefined ? TRUE : buildCursorCondition(cursor),
  ])
  const { rows } = await writer.query<AuditRow>(
    statement(sql`
SELECT id, toUnixTimestamp64Micro(at) AS at_us, actor, action, project_id, target, before, after
FROM audit_log WHERE ${isAsked}
ORDER BY audit_log.at DESC, id DESC LIMIT ${uint32(limit + 1)}`),
  )
  const page = cutPage(rows, limit, (last) => `${last.at_us}-${last.id}`)
  return { entries: page.rows.map(toEntry), nextCursor: page.nextCursor }
}

function buildCursorCondition(cursor: string): Sql {
  const [us, id] = parseCursor(CURSOR, cursor)
  return sql`(toUnixTimestamp64Micro(at), id) < (toInt64(${uint64(us)}), ${string(id)})`
}

const toEntry = (row: AuditRow): AuditEntry => ({
  at: new Date(row.at_us / 1_000),
  actor: row.actor,
  action: row.action,
  projectId: row.project_id,
  target: row.target === '' ? null : row.target,
  before: parseValues(row.before),
  after: parseValues(row.after),
})

const parseValues = (json: string): Values | null =>
  json === '' ? null : (JSON.parse(json) as Values)
