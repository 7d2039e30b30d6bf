/** Says which relocation of a project is under way. */
import type { Cluster } from '../cluster/cluster.js'
import { ConflictError, UserError } from '../lib/errors.js'
import type { StoredProject } from '../projects/project.js'
import { requireProject } from '../projects/store.js'
import { findRelocation, isWidening, listSources, type Relocation } from './journal.js'

/** What is described of a relocation. */
export type DescribedRelocation = Pick<Relocation, 'projectId' | 'shards' | 'legs'>

/** `is being moved from shard1 to shard2`, `is being widened to 2 shards: shard2, shard1`. */
export const describeState = (relocation: Pick<Relocation, 'shards' | 'legs'>): string =>
  isWidening(relocation)
    ? `is being widened to ${relocation.shards.length} shards: ${relocation.shards.join(', ')}`
    : `is being moved from ${listSources(relocation).join()} to ${relocation.shards.join()}`

/** The command that goes on with it. */
export const describeCommand = ({ projectId, shards }: DescribedRelocation): string =>
  isWidening({ shards })
    ? `tallyhouse project widen ${projectId} --width ${shards.length}`
    : `tallyhouse project move ${projectId} --to ${shards.join()}`

/** Says what is under way, and how to go on with it. */
export const describeRelocation = (relocation: DescribedRelocation): string =>
  `the project ${relocation.projectId} ${describeState(relocation)}: ` +
  `run "${describeCommand(relocation)}" again to finish that, or with --abort to give it up`

/** Finds the relocation of a project that has not ended; undefined if there is none, and for a store without a cluster. */
export const findRelocationWithin = async (
  { home, shards }: Cluster,
  projectId: string,
): Promise<Relocation | undefined> =>
  // The account for queries does not see the journal.
  shards.length === 1 ? undefined : findRelocation(home.store.writer, projectId)

/** @throws ConflictError while the project is being moved or widened */
export async function requireSettled(cluster: Cluster, projectId: string): Promise<void> {
  const relocation = await findRelocationWithin(cluster, projectId)
  if (relocation !== undefined) throw new ConflictError(describeRelocation(relocation))
}

/**
 * Returns a check that rejects if a project does not live any more where it did, or is being moved or widened. While the caller
 * holds the loader lease of a shard of the project, the data there cannot leave it after the check.
 *
 * @param project as it was read before
 */
export const createResidenceCheck =
  (cluster: Cluster, { id, shards }: Pick<StoredProject, 'id' | 'shards'>) =>
  async (): Promise<void> => {
    await requireSettled(cluster, id)
    const now = await requireProject(cluster.home.store.writer, id)
    if (now.shards.join() === shards.join()) return
    throw new UserError(`the project ${id} was moved meanwhile: run the command again`)
  }
