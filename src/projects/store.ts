/** Stores the projects. A project has one row per version; the row with the highest version counts. */
import type { Connection, QueryOptions } from '../clickhouse/connection.js'
import { withJoinedLease } from '../clickhouse/lease/joined-lease.js'
import { sql, statement, string, strings, uint32 } from '../clickhouse/sql.js'
import type { Store } from '../clickhouse/store.js'
import { randomId } from '../lib/random-id.js'
import { isDeepStrictEqual } from 'node:util'
import { ConflictError, MissingError } from '../lib/errors.js'
import {
  DEFAULT_SETTINGS,
  type NewProject,
  type ProjectChanges,
  type StoredProject,
} from './project.js'
import { createPublicToken } from './public-token.js'
import { toStoredProject, PROJECT_COLUMNS, type ProjectRow } from './row.js'
import { validateFields } from './rules.js'
import { findVersion, writeVersion } from './versions.js'

/** Returns all projects, the oldest first. */
export async function listProjects(connection: Connection): Promise<readonly StoredProject[]> {
  const { rows } = await connection.query<ProjectRow>(
    statement(sql`SELECT ${PROJECT_COLUMNS} FROM projects FINAL ORDER BY created_at, id`),
  )
  return rows.map(toStoredProject)
}

interface ProjectPage {
  /** The id after which the page begins; empty for the first page. */
  readonly after: string
  readonly limit: number
  /** Organizations that a project must all belong to; none for all projects. */
  readonly orgs: readonly string[]
  /** A part of its name, in any case. */
  readonly name?: string | undefined
}

/** Returns a page of projects, by their ids. */
export async function listProjectsAfter(
  connection: Connection,
  { after, limit, orgs, name = '' }: ProjectPage,
): Promise<readonly StoredProject[]> {
  const { rows } = await connection.query<ProjectRow>(
    statement(sql`
      SELECT ${PROJECT_COLUMNS} FROM projects FINAL
      WHERE id > ${string(after)} AND arrayAll(one -> one = org, ${strings(orgs)})
        AND (${string(name)} = '' OR positionCaseInsensitiveUTF8(name, ${string(name)}) > 0)
      ORDER BY id LIMIT ${uint32(limit)}`),
  )
  return rows.map(toStoredProject)
}

/** Returns the projects with these ids that exist, by their ids. */
export async function listProjectsById(
  connection: Connection,
  ids: readonly string[],
): Promise<readonly StoredProject[]> {
  const { rows } = await connection.query<ProjectRow>(
    statement(
      sql`SELECT ${PROJECT_COLUMNS} FROM projects FINAL PREWHERE id IN ${strings(ids)} ORDER BY id`,
    ),
  )
  return rows.map(toStoredProject)
}

/** Returns the projects that anyone may look at. */
export async function listPublicProjects(
  connection: Connection,
  options: QueryOptions,
): Promise<readonly StoredProject[]> {
  const { rows } = await connection.query<ProjectRow>(
    statement(
      sql`SELECT ${PROJECT_COLUMNS} FROM projects FINAL WHERE has_public_dashboard AND NOT is_deleting`,
    ),
    options,
  )
  return rows.map(toStoredProject)
}

/** Finds a project by its id; undefined when it does not exist. */
export async function findProject(
  connection: Connection,
  id: string,
): Promise<StoredProject | undefined> {
  return (await findVersion(connection, id))?.project
}

/**
 * Finds a project by its public token, or by its former one until that ends by the clock of the store; undefined
 * when no project has it, or the project is being deleted.
 */
export async function findProjectByToken(
  connection: Connection,
  token: string,
  options: QueryOptions = {},
): Promise<StoredProject | undefined> {
  const { rows } = await connection.query<ProjectRow>(
    statement(sql`
      SELECT ${PROJECT_COLUMNS} FROM projects FINAL
      WHERE (token = ${string(token)} OR former_token = ${string(token)} AND former_token_until > now64(3))
        AND NOT is_deleting`),
    options,
  )
  return rows[0] && toStoredProject(rows[0])
}

/**
 * Finds a project by its id.
 *
 * @throws MissingError when it does not exist
 */
export async function requireProject(connection: Connection, id: string): Promise<StoredProject> {
  const project = await findProject(connection, id)
  if (project === undefined) throw new MissingError(`there is no project ${id}`)
  return project
}

/** A project to create. */
export interface ProjectToCreate extends NewProject {
  /** The id of a project that names none: no other project can have it, so this is not checked. Random if left out. */
  readonly derivedId?: string | undefined
}

/**
 * Creates a project with a random public token, and with a random id if none is given.
 *
 * @param shards the shards that it lives on; if left out, the store itself
 * @param prepare is called before the project is stored, while no other one can be; if it rejects, nothing is stored
 * @throws UserError for an invalid field, and for an id that is taken
 */
export async function createProject(
  store: Store,
  { derivedId, ...fields }: ProjectToCreate,
  now: Date,
  shards: readonly string[] = [],
  prepare?: (project: StoredProject) => Promise<void>,
): Promise<StoredProject> {
  const project: StoredProject = {
    id: derivedId ?? randomId('prj_', 12),
    ...DEFAULT_SETTINGS,
    formerToken: null,
    isDeleting: false,
    hasCutSessions: false,
    shards,
    formerWidths: [],
    isWidening: false,
    ...validateFields(fields),
    token: createPublicToken(),
    createdAt: now,
  }
  // Nobody else has an id that was not named, and without copies there is nothing to synchronize.
  if (fields.id === undefined && shards.length === 0) {
    await writeVersion(store.writer, { project, version: 1 })
    return project
  }
  await withJoinedLease(store.writer, 'projects', project.id, async () => {
    if ((await findProject(store.reader, project.id)) !== undefined) {
      throw new ConflictError(`the project ${project.id} exists already`)
    }
    await prepare?.(project)
    await writeVersion(store.writer, { project, version: 1 })
  })
  return project
}

/** Rejects the change of a project as it is. It is called while no other change can be made. */
export type CheckProject = (project: StoredProject) => void

/**
 * Changes the given fields of a project and returns the changed project. A change to the same values writes nothing.
 *
 * @throws UserError for an invalid field, and for a project that does not exist or is being deleted
 */
export async function updateProject(
  store: Store,
  id: string,
  changes: ProjectChanges,
  check?: CheckProject,
): Promise<StoredProject> {
  const fields = validateFields(changes)
  return changeProject(store, id, () => fields, check)
}

/**
 * Gives a project a new public token and returns the changed project. Events are accepted with the former one until
 * `formerUntil`; the one before that ends.
 *
 * @param formerUntil the former token ends at once if this is not in the future
 * @throws UserError for a project that does not exist or is being deleted
 */
export const rotateToken = (
  store: Store,
  id: string,
  formerUntil: Date,
  now: Date,
  check?: CheckProject,
): Promise<StoredProject> =>
  changeProject(
    store,
    id,
    ({ token }) => ({
      token: createPublicToken(),
      formerToken: formerUntil > now ? { token, until: formerUntil } : null,
    }),
    check,
  )

/**
 * Records that sessions of a project are about to be deleted whose later events are kept.
 *
 * @returns whether it was not recorded before
 */
export function markCut(writer: Connection, id: string): Promise<boolean> {
  return withJoinedLease(writer, 'projects', id, async () => {
    const current = await findVersion(writer, id)
    if (current === undefined || current.project.hasCutSessions) return false
    await writeVersion(writer, {
      project: { ...current.project, hasCutSessions: true },
      version: current.version + 1,
    })
    return true
  })
}

/** Marks a project as being deleted. The caller holds the lease `projects`. */
export async function markDeleting(writer: Connection, id: string): Promise<void> {
  const current = await findVersion(writer, id)
  if (current === undefined || current.project.isDeleting) return
  await writeVersion(writer, {
    project: { ...current.project, isDeleting: true },
    version: current.version + 1,
  })
}

/**
 * Records on which shards a project lives and returns the changed project.
 *
 * @throws UserError for a project that does not exist or is being deleted
 */
export const changeShards = (
  store: Store,
  id: string,
  shards: readonly string[],
): Promise<StoredProject> => changeProject(store, id, () => ({ shards }))

async function changeProject(
  store: Store,
  id: string,
  change: (project: StoredProject) => Partial<StoredProject>,
  check?: CheckProject,
): Promise<StoredProject> {
  return withJoinedLease(store.writer, 'projects', id, async () => {
    const current = await findVersion(store.reader, id)
    if (current === undefined) throw new MissingError(`there is no project ${id}`)
    const { project, version } = current
    if (project.isDeleting) throw new ConflictError(`the project ${id} is being deleted`)
    check?.(project)
    const changed = { ...project, ...change(project) }
    if (isDeepStrictEqual(changed, project)) return project
    await writeVersion(store.writer, { project: changed, version: version + 1 })
    return changed
  })
}
