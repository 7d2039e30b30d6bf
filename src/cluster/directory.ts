/**
 * Changes projects in a cluster: at home, and the same row on the other shards of the project. A change is made once the
 * home has it; a shard that is away gets it from `syncProjects` later.
 */
import { UserError } from '../lib/errors.js'
import type { ProjectChanges, StoredProject } from '../projects/project.js'
import * as projects from '../projects/store.js'
import { copyVersions, findVersion, writeVersion } from '../projects/versions.js'
import type { Cluster, Shard } from './cluster.js'
import { removeCopy } from './copies.js'
import { createDeadline, describeFailure, tryShards } from './reach.js'

/** A project after a change. */
export interface ChangedProject {
  readonly project: StoredProject
  /** The shards that have not taken the change yet. */
  readonly pending: readonly string[]
}

/**
 * Creates a project. The other shards get their copies first: a project that can be found has all of them. What an
 * interrupted creation leaves there is removed by `syncProjects`, or by the next creation with the same id.
 *
 * @param shards the names of its shards, as `placeProject` returns them
 * @throws UserError for an invalid field, an id that is taken, and a shard that does not answer
 */
export const createProject = (
  cluster: Cluster,
  fields: projects.ProjectToCreate,
  now: Date,
  shards: readonly string[],
): Promise<StoredProject> =>
  projects.createProject(cluster.home.store, fields, now, shards, async (project) => {
    const failed = await tryShards(listOthers(cluster, project), ({ name, store: { writer } }) =>
      createCopy(writer, name, project),
    )
    const [first] = failed
    if (first === undefined) return
    throw new UserError(`no project was created: ${describeFailure(first)}`)
  })

async function createCopy(
  writer: Shard['store']['writer'],
  name: string,
  project: StoredProject,
): Promise<void> {
  const left = await findVersion(writer, project.id, { signal: createDeadline() })
  if (left !== undefined && !(await removeCopy(writer, project.id))) {
    throw new UserError(
      `${name} still has data of another project ${project.id}: choose another id`,
    )
  }
  await writeVersion(writer, { project, version: 1 }, createDeadline())
}

/**
 * Changes the given fields of a project.
 *
 * @throws UserError for an invalid field, and for a project that does not exist or is being deleted
 */
export const updateProject = async (
  cluster: Cluster,
  id: string,
  changes: ProjectChanges,
  check?: projects.CheckProject,
): Promise<ChangedProject> =>
  copyChange(cluster, await projects.updateProject(cluster.home.store, id, changes, check))

/**
 * Gives a project a new public token, as `rotateToken` of a store does.
 *
 * @throws UserError for a project that does not exist or is being deleted
 */
export const rotateToken = async (
  cluster: Cluster,
  id: string,
  formerUntil: Date,
  now: Date,
  check?: projects.CheckProject,
): Promise<ChangedProject> =>
  copyChange(cluster, await projects.rotateToken(cluster.home.store, id, formerUntil, now, check))

/**
 * Records on which shards a project lives. Those that it leaves keep their copies until they have no data of it.
 *
 * @throws UserError for a project that does not exist or is being deleted
 */
export const changeShards = async (
  cluster: Cluster,
  id: string,
  shards: readonly string[],
): Promise<ChangedProject> =>
  copyChange(cluster, await projects.changeShards(cluster.home.store, id, shards))

/**
 * Records that sessions of a project are about to be deleted whose later events are kept.
 *
 * @returns whether it was not recorded before
 */
export async function markCut(cluster: Cluster, id: string): Promise<boolean> {
  const isNew = await projects.markCut(cluster.home.store.writer, id)
  await copyProject(cluster, id)
  return isNew
}

/** Copies a project from home to its other shards. Returns the names of those that are away; never rejects for them. */
export async function copyProject(cluster: Cluster, id: string): Promise<readonly string[]> {
  const { home } = cluster
  if (cluster.shards.length === 1) return []
  const project = await projects.findProject(home.store.writer, id)
  return project === undefined ? [] : (await copyChange(cluster, project)).pending
}

async function copyChange(cluster: Cluster, project: StoredProject): Promise<ChangedProject> {
  const from = cluster.home.store.writer
  const failed = await tryShards(listOthers(cluster, project), ({ store }) =>
    copyVersions(from, store.writer, [project.id], createDeadline),
  )
  return { project, pending: failed.map(({ name }) => name) }
}

/** The shards with a copy of a project. A name that the configuration of this process lacks is left out. */
const listOthers = (
  { home, shards }: Cluster,
  project: Pick<StoredProject, 'shards'>,
): readonly Shard[] =>
  shards.filter((shard) => shard !== home && project.shards.includes(shard.name))
