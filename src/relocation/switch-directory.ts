/** Records that a project lives on another shard. */
import { withLease } from '../clickhouse/lease/lease.js'
import type { Cluster, Shard } from '../cluster/cluster.js'
import { UserError } from '../lib/errors.js'
import type { StoredProject } from '../projects/project.js'
import { findVersion, writeVersion } from '../projects/versions.js'

/**
 * Writes a version of a project that lives on `target`. The target has it first: who finds it there may send events to it. The
 * source has it before the home: its loader leaves the rows of the project from then on. May be repeated.
 *
 * @throws UserError if the project is not on the source any more, or is being deleted
 */
export const switchDirectory = (
  { home }: Cluster,
  projectId: string,
  source: Shard,
  target: Shard,
): Promise<void> =>
  withLease(home.store.writer, 'projects', async () => {
    const { writer } = home.store
    const current = await findVersion(writer, projectId)
    if (current === undefined) throw new UserError(`there is no project ${projectId}`)
    const { project, version } = current
    if (project.isDeleting) throw new UserError(`the project ${projectId} is being deleted`)
    if (findOnlyShard(project, home.name) !== source.name) {
      throw new UserError(`the project ${projectId} does not live on ${source.name} any more`)
    }
    const shards = target.name === home.name ? [] : [target.name]
    const next = { project: { ...project, shards }, version: version + 1 }
    for (const one of [target, source]) {
      if (one.name !== home.name) await writeVersion(one.store.writer, next)
    }
    await writeVersion(writer, next)
  })

/** Returns the name of the only shard of a project; undefined for one that lives across several. */
export const findOnlyShard = (
  { shards }: Pick<StoredProject, 'shards'>,
  home: string,
): string | undefined => (shards.length > 1 ? undefined : (shards[0] ?? home))
