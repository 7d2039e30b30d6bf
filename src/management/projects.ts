/** Creates, changes and deletes projects, and records who did. */
import { locate, type Cluster } from '../cluster/cluster.js'
import * as directory from '../cluster/directory.js'
import type { ChangedProject } from '../cluster/directory.js'
import { findEarliest } from '../cluster/shard-reads.js'
import { placeProject } from '../cluster/place-project.js'
import { addMs } from '../lib/time.js'
import { findFirstEventTime } from '../projects/event-times.js'
import type { NewProject, ProjectChanges, StoredProject } from '../projects/project.js'
import { findProject, type CheckProject } from '../projects/store.js'
import { recordChange, type Action, type Values } from './audit-log.js'
import type { ManagementContext } from './context.js'

/** Where a new project is to live, in a cluster. */
export interface Placement {
  /** The only shard of the project. */
  readonly shard?: string | undefined
  /** The number of its shards. */
  readonly width: number
}

/**
 * Creates a project, or returns the one that an interrupted request has created.
 *
 * @throws FieldValueError for an invalid field; ConflictError for an id that is taken; UserError for a shard that does not answer
 */
export async function createProject(
  context: ManagementContext,
  fields: NewProject,
  placement: Placement,
): Promise<StoredProject> {
  const { cluster, now, isRepeated = false } = context
  const derivedId = fields.id === undefined ? context.createId?.('prj_', 12) : undefined
  const create = async (): Promise<StoredProject> => {
    const shards = await placeProject(cluster, placement)
    return directory.createProject(cluster, { ...fields, derivedId }, now(), shards)
  }
  const created =
    isRepeated && derivedId !== undefined
      ? await findProject(cluster.home.store.writer, derivedId)
      : undefined
  const project = created ?? (await create())
  await recordChange(context, {
    action: 'project.create',
    project,
    after: pickSettings(project, SETTINGS),
  })
  return project
}

/**
 * Changes the given fields of a project. A change to the same values is not recorded.
 *
 * @param check may reject the change of the project as it is
 * @throws FieldValueError for an invalid field; MissingError for an unknown project; ConflictError for one that is being deleted
 */
export const updateProject = (
  context: ManagementContext,
  id: string,
  changes: ProjectChanges,
  check?: CheckProject,
): Promise<ChangedProject> =>
  recordUpdate(context, 'project.update', check, (checked) =>
    directory.updateProject(context.cluster, id, changes, checked),
  )

/**
 * Gives a project a new public token. Events are accepted with the former one for `graceMs` more.
 *
 * @throws MissingError for an unknown project; ConflictError for one that is being deleted
 */
export function rotateToken(
  context: ManagementContext,
  id: string,
  graceMs: number,
  check?: CheckProject,
): Promise<ChangedProject> {
  const now = context.now()
  return recordUpdate(context, 'project.rotate-token', check, (checked) =>
    directory.rotateToken(context.cluster, id, addMs(now, graceMs), now, checked),
  )
}

/** Returns the time of the earliest event of a project on all its shards; null when it has none. */
export const findFirstEvent = (
  cluster: Cluster,
  project: Pick<StoredProject, 'id' | 'shards'>,
): Promise<Date | null> =>
  findEarliest(locate(cluster, project), ({ store }) =>
    findFirstEventTime(store.writer, project.id),
  )

/** Makes a change, and records the settings that it has changed. */
async function recordUpdate(
  context: ManagementContext,
  action: Action,
  check: CheckProject | undefined,
  change: (check: CheckProject) => Promise<ChangedProject>,
): Promise<ChangedProject> {
  let before: StoredProject | undefined
  const changed = await change((project) => {
    check?.(project)
    before = project
  })
  const { project } = changed
  // The public token is no secret, and an investigation of a flood of events needs it.
  const names = [...SETTINGS, 'token' as const].filter(
    (name) => JSON.stringify(before?.[name]) !== JSON.stringify(project[name]),
  )
  if (before !== undefined && names.length > 0) {
    await recordChange(context, {
      action,
      project,
      before: pickSettings(before, names),
      after: pickSettings(project, names),
    })
  }
  return changed
}

const SETTINGS = [
  'org',
  'name',
  'domain',
  'timeZone',
  'hasPublicDashboard',
  'embedOrigins',
  'excludedIps',
  'excludedCountries',
  'retentionDays',
  'keepDays',
] as const satisfies readonly (keyof StoredProject)[]

const pickSettings = (project: StoredProject, names: readonly (keyof StoredProject)[]): Values =>
  Object.fromEntries(names.map((name) => [name, project[name]]))
