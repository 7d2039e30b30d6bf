/** Operations: what takes longer than a request. They are stored at home, so that any process may finish them. */
import type { Connection } from '../clickhouse/connection.js'
import { withJoinedLease } from '../clickhouse/lease/joined-lease.js'
import {
  optionalTime,
  sql,
  statement,
  string,
  time,
  TRUE,
  uint32,
  uint64,
  type Sql,
} from '../clickhouse/sql.js'
import type { DeletionResult, ImportProgress, ImportResult } from '../contract/management-api.js'
import type { FoundUsers } from '../deletion/delete-users.js'
import type { ImportSettings } from '../ingest/import/import-settings.js'
import { ConflictError } from '../lib/errors.js'
import type { StoredProject } from '../projects/project.js'
import { requireSettled } from '../relocation/describe.js'
import { recordProjectDeletion, recordUserDeletion } from './audit-log.js'
import { createId, type ManagementContext } from './context.js'
import { cutPage, parseCursor } from './page.js'

/** What an operation is asked to do. */
type OperationRequest = ProjectDeletionRequest | UserDeletionRequest | ImportRequest

export interface ProjectDeletionRequest {
  readonly kind: 'project_deletion'
  /** What the project had; left out until it runs. */
  readonly found?: DeletionResult
}

export interface UserDeletionRequest {
  readonly kind: 'user_deletion'
  readonly userIds: readonly string[]
  /** What was found of the users so far; left out until a shard is asked. */
  readonly found?: FoundUsers
}

export interface ImportRequest {
  readonly kind: 'import'
  /** The id of the file in `uploads`. */
  readonly upload: string
  /** The size of the file. */
  readonly bytes: number
  readonly settings: ImportSettings
  /** By shard, the first load that can be of this import; left out until it runs. */
  readonly firstLoads?: Readonly<Record<string, number>>
  /** How often an error ended it that was neither of the file nor of the connection. */
  readonly failures?: number
  /** The id of the file of rejected rows; left out until it has ended. */
  readonly rejected?: string
}

type OperationResult = DeletionResult | ImportResult
type OperationState = 'waiting' | 'running' | 'done' | 'failed'

export interface StoredOperation {
  readonly id: string
  readonly projectId: string
  /** The organization of the project when the operation began. */
  readonly org: string | null
  readonly kind: OperationRequest['kind']
  /** Null once a deletion has ended: it may name users. */
  readonly request: OperationRequest | null
  readonly state: OperationState
  /** Null for a deletion, and before it runs. */
  readonly progress: ImportProgress | null
  readonly result: OperationResult | null
  readonly error: string | null
  readonly createdAt: Date
  readonly endedAt: Date | null
  readonly version: number
}

/**
 * Starts the deletion of a project.
 *
 * @throws ConflictError while it is being deleted, moved or widened
 */
export async function startProjectDeletion(
  context: ManagementContext,
  project: StoredProject,
): Promise<StoredOperation> {
  const { id, isDeleting } = project
  const { writer } = context.cluster.home.store
  // Of two callers at the same moment, the second one finds the deletion of the first.
  const operation = await withJoinedLease(writer, 'projects', id, async () => {
    const open = await listOpenOperations(writer, id)
    const deletion = open.find(({ kind }) => kind === 'project_deletion')
    if (deletion !== undefined || isDeleting) {
      const by = deletion === undefined ? '' : ` by the operation ${deletion.id}`
      throw new ConflictError(`the project ${id} is being deleted${by}`)
    }
    return startOperation(context, project, { kind: 'project_deletion' })
  })
  await recordProjectDeletion(context, project)
  return operation
}

/**
 * Starts the deletion of users of a project.
 *
 * @throws ConflictError while the project is being moved or widened
 */
export async function startUserDeletion(
  context: ManagementContext,
  project: StoredProject,
  userIds: readonly string[],
): Promise<StoredOperation> {
  const operation = await startOperation(context, project, { kind: 'user_deletion', userIds })
  await recordUserDeletion(context, project, new Set(userIds).size, operation.id)
  return operation
}

/** Stores an operation, which `runOperations` then runs. @throws ConflictError while the project is being moved or widened */
export async function startOperation(
  context: ManagementContext,
  project: Pick<StoredProject, 'id' | 'org'>,
  request: OperationRequest,
): Promise<StoredOperation> {
  await requireSettled(context.cluster, project.id)
  const { writer } = context.cluster.home.store
  const id = createId(context, 'op_', 16)
  const started = await findOperation(writer, id)
  if (started !== undefined) return started
  const operation: StoredOperation = {
    id,
    projectId: project.id,
    org: project.org,
    kind: request.kind,
    request,
    state: 'waiting',
    progress: null,
    result: null,
    error: null,
    createdAt: context.now(),
    endedAt: null,
    version: 1,
  }
  await insert(writer, operation)
  return operation
}

/** Finds an operation; undefined if there is none. */
export const findOperation = async (
  writer: Connection,
  id: string,
): Promise<StoredOperation | undefined> => (await select(writer, sql`id = ${string(id)}`))[0]

/** Returns the operations that have not ended, the oldest first. @param projectId left out for those of all projects */
export const listOpenOperations = (
  writer: Connection,
  projectId?: string,
): Promise<readonly StoredOperation[]> => {
  const isWanted = projectId === undefined ? TRUE : sql`project_id = ${string(projectId)}`
  return select(writer, sql`state IN ('waiting', 'running') AND ${isWanted}`)
}

/** The imports of a project that a page has. */
interface ImportFilter {
  readonly projectId: string
  readonly limit: number
  /** Where the page before ended. */
  readonly cursor?: string | undefined
}

interface ImportPage {
  readonly imports: readonly StoredOperation[]
  /** Where the next page begins; null after the last import. */
  readonly nextCursor: string | null
}

const CURSOR = /^(\d{1,15})-(op_[a-z0-9]{16})$/

/** Returns a page of the imports of a project, the latest first. @throws FieldValueError for a cursor that no page gave */
export async function listImports(
  writer: Connection,
  { projectId, limit, cursor }: ImportFilter,
): Promise<ImportPage> {
  const isAsked = sql`kind = 'import' AND project_id = ${string(projectId)}`
  const isAfter = cursor === undefined ? TRUE : buildCursorCondition(cursor)
  const found = await select(
    writer,
    sql`${isAsked} AND ${isAfter}`,
    sql`created_at DESC, id DESC LIMIT ${uint32(limit + 1)}`,
  )
  const page = cutPage(found, limit, (last) => `${last.createdAt.getTime()}-${last.id}`)
  return { imports: page.rows, nextCursor: page.nextCursor }
}

function buildCursorCondition(cursor: string): Sql {
  const [ms, id] = parseCursor(CURSOR, cursor)
  return sql`(created_at, id) < (${time(new Date(ms))}, ${string(id)})`
}

/** Records how far an operation is. Returns it as it is stored. */
export async function recordState(
  writer: Connection,
  operation: StoredOperation,
  changes: Partial<StoredOperation>,
): Promise<StoredOperation> {
  const changed = { ...operation, ...changes, version: operation.version + 1 }
  await insert(writer, changed)
  return changed
}

interface OperationRow {
  readonly id: string
  readonly kind: OperationRequest['kind']
  readonly project_id: string
  readonly org: string
  readonly request: string
  readonly state: OperationState
  readonly progress: string
  readonly result: string
  readonly error: string
  readonly created_ms: number
  readonly ended_ms: number | null
  readonly version: number
}

async function select(
  writer: Connection,
  condition: Sql,
  order = sql`created_at, id`,
): Promise<readonly StoredOperation[]> {
  const { rows } = await writer.query<OperationRow>(
    statement(sql`
SELECT id, kind, project_id, org, request, state, progress, result, error, toUnixTimestamp64Milli(created_at) AS created_ms,
  toUnixTimestamp64Milli(ended_at) AS ended_ms, version
FROM operations FINAL WHERE ${condition} ORDER BY ${order}`),
  )
  return rows.map((row) => ({
    id: row.id,
    projectId: row.project_id,
    org: row.org === '' ? null : row.org,
    kind: row.kind,
    request: fromJson(row.request) as OperationRequest | null,
    state: row.state,
    progress: fromJson(row.progress) as ImportProgress | null,
    result: fromJson(row.result) as OperationResult | null,
    error: row.error === '' ? null : row.error,
    createdAt: new Date(row.created_ms),
    endedAt: row.ended_ms === null ? null : new Date(row.ended_ms),
    version: row.version,
  }))
}

const insert = (writer: Connection, operation: StoredOperation): Promise<void> =>
  writer.execute(
    statement(sql`
INSERT INTO operations
  (id, kind, project_id, org, request, state, progress, result, error, created_at, ended_at, version)
SELECT ${string(operation.id)}, ${string(operation.kind)}, ${string(operation.projectId)},
  ${string(operation.org ?? '')}, ${string(toJson(operation.request))}, ${string(operation.state)},
  ${string(toJson(operation.progress))}, ${string(toJson(operation.result))}, ${string(operation.error ?? '')}, ${time(operation.createdAt)},
  ${optionalTime(operation.endedAt)}, ${uint64(operation.version)}`),
  )

const toJson = (value: object | null): string => (value === null ? '' : JSON.stringify(value))

const fromJson = (text: string): unknown => (text === '' ? null : JSON.parse(text))
