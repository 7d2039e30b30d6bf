/** Projects that were widened, without their data. */
import type { Cluster } from '../../../src/cluster/cluster.js'
import { copyProject } from '../../../src/cluster/directory.js'
import type { FormerWidth, StoredProject } from '../../../src/projects/project.js'
import { findVersion, writeVersion } from '../../../src/projects/versions.js'

/** Records that a project lives across more shards, and returns it. @param until the first day of the new width */
export async function recordWidening(
  cluster: Cluster,
  { id }: Pick<StoredProject, 'id'>,
  names: readonly string[],
  until: string,
): Promise<StoredProject> {
  const { writer } = cluster.home.store
  const { project, version } = (await findVersion(writer, id))!
  const former: FormerWidth = {
    width: Math.max(project.shards.length, 1),
    until: new Date(until),
  }
  const widened = {
    ...project,
    shards: names,
    formerWidths: [...project.formerWidths, former],
  }
  await writeVersion(writer, { project: widened, version: version + 1 })
  await copyProject(cluster, id)
  return widened
}
