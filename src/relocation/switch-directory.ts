/** Records that a project lives on other shards. */
import { withLease } from '../clickhouse/lease/lease.js'
import type { Cluster, Shard } from '../cluster/cluster.js'
import { removeCopy } from '../cluster/copies.js'
import { UserError } from '../lib/errors.js'
import { addDays, addMs, HOUR_MS, startOfDay } from '../lib/time.js'
import { EVENT_LIMITS } from '../model/event-fields.js'
import type { StoredProject } from '../projects/project.js'
import { findVersion, writeVersion, type ProjectVersion } from '../projects/versions.js'
import { isWidening, listSources, type Relocation } from './journal.js'
import { requireShard } from './transfers.js'

/**
 * Writes a version of a project that lives on its new shards. The targets have it first: who finds it there may send events to
 * them. The sources have it before the home: their loaders leave the rows of those who left from then on. May be repeated.
 *
 * @throws UserError if the project is not on its former shards any more, or is being deleted
 */
export const switchDirectory = (
  cluster: Cluster,
  relocation: Relocation,
  now: Date,
): Promise<void> =>
  changeVersion(cluster, relocation, (project) => {
    const former = listSources(relocation)
    if (!isSame(listShardNames(cluster, project), former)) {
      throw new UserError(
        `the project ${project.id} does not live on ${former.join(', ')} any more`,
      )
    }
    return { ...project, ...placeProject(cluster, relocation, project, now) }
  })

/** Writes a version of a widened project whose former shards have no row of those who left any more. May be repeated. */
export const endWidening = (cluster: Cluster, relocation: Relocation): Promise<void> =>
  changeVersion(cluster, relocation, (project) => ({ ...project, isWidening: false }))

/**
 * Takes back what an interrupted switch has told the shards, by a later version of the project as it is at home. The targets have
 * no data of it any more. May be repeated.
 */
export async function takeBackSwitch(cluster: Cluster, relocation: Relocation): Promise<void> {
  const { projectId, legs } = relocation
  for (const { target } of legs) {
    const shard = requireShard(cluster, target)
    if (shard !== cluster.home) await removeCopy(shard.store.writer, projectId)
  }
  await withLease(cluster.home.store.writer, 'projects', async () => {
    const sources = listSources(relocation).map((name) => requireShard(cluster, name))
    const copies = await findVersions(sources, projectId)
    const current = await findVersion(cluster.home.store.writer, projectId)
    const last = Math.max(...copies.map(({ version }) => version))
    if (current === undefined || last <= current.version) return
    await writeVersions(cluster, sources, { ...current, version: last + 1 })
  })
}

const findVersions = async (
  shards: readonly Shard[],
  projectId: string,
): Promise<readonly ProjectVersion[]> => {
  const found = await Promise.all(shards.map(({ store }) => findVersion(store.writer, projectId)))
  return found.filter((one) => one !== undefined)
}

/** Writes a version of a project on some shards, and at home last. */
async function writeVersions(
  { home }: Cluster,
  shards: readonly Shard[],
  version: ProjectVersion,
): Promise<void> {
  for (const shard of shards) {
    if (shard.name !== home.name) await writeVersion(shard.store.writer, version)
  }
  await writeVersion(home.store.writer, version)
}

/** Writes the next version of a project: on all shards of the relocation before the home. */
const changeVersion = (
  cluster: Cluster,
  { projectId, legs }: Relocation,
  change: (project: StoredProject) => StoredProject,
): Promise<void> =>
  withLease(cluster.home.store.writer, 'projects', async () => {
    const { writer } = cluster.home.store
    const current = await findVersion(writer, projectId)
    if (current === undefined) throw new UserError(`there is no project ${projectId}`)
    const { project, version } = current
    if (project.isDeleting) throw new UserError(`the project ${projectId} is being deleted`)
    const next = { project: change(project), version: version + 1 }
    const names = [...legs.map(({ target }) => target), ...listSources({ legs })]
    await writeVersions(
      cluster,
      names.map((name) => requireShard(cluster, name)),
      next,
    )
  })

/** The shards of a project after its relocation, and how it was divided before. */
function placeProject(
  { home }: Cluster,
  relocation: Relocation,
  { formerWidths }: StoredProject,
  now: Date,
): Pick<StoredProject, 'shards' | 'formerWidths' | 'isWidening'> {
  const { shards } = relocation
  if (!isWidening(relocation)) {
    return { shards: isSame(shards, [home.name]) ? [] : shards, formerWidths, isWidening: false }
  }
  const width = listSources(relocation).length
  const cut = { width, until: findCut(now) }
  return { shards, formerWidths: [...formerWidths, cut], isWidening: true }
}

/**
 * The start of the first day whose derived users are divided by the new shards. Every service knows of the switch within the hour, and none
 * has taken an event of that day before: events may be dated ahead of their arrival.
 */
const findCut = (now: Date): Date =>
  addDays(startOfDay(addMs(now, EVENT_LIMITS.maxLeadMs + HOUR_MS)), 1)

/** Lists the shards of a project by name. */
export const listShardNames = (
  { home }: Cluster,
  { shards }: Pick<StoredProject, 'shards'>,
): readonly string[] => (shards.length === 0 ? [home.name] : shards)

/** Whether a project lives on its new shards. */
export const livesOn = (
  cluster: Cluster,
  project: Pick<StoredProject, 'shards'>,
  { shards }: Relocation,
): boolean => isSame(listShardNames(cluster, project), shards)

const isSame = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((one, i) => one === others[i])
