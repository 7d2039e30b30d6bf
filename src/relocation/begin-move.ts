/** Begins the move of a project, or finds the one that was interrupted. */
import { findShard, type Cluster, type Shard } from '../cluster/cluster.js'
import { recordStep as recordDeletion, STEP as DELETION_STEP } from '../deletion/journal.js'
import { readNextNumber } from '../ingest/loader/load-log.js'
import { withLoaderLease } from '../ingest/loader/with-loader-lease.js'
import { UserError } from '../lib/errors.js'
import type { StoredProject } from '../projects/project.js'
import { requireProject } from '../projects/store.js'
import { readRollupState } from '../rollups/progress.js'
import { findMove, startMove, type Move } from './journal.js'
import { hasRows } from './staging.js'
import { findOnlyShard } from './switch-directory.js'

/** A move with its shards. */
export interface BegunMove {
  readonly move: Move
  readonly source: Shard
  readonly target: Shard
}

/**
 * Begins a move, or finds the one that was interrupted. The caller holds the lease `moves` of the home.
 *
 * @param to the name of the shard to move to
 * @throws UserError if the project cannot be moved there
 */
export async function beginMove(
  cluster: Cluster,
  projectId: string,
  to: string,
): Promise<BegunMove> {
  const { home } = cluster
  const begun = await findMove(home.store.writer, projectId)
  if (begun !== undefined) {
    if (begun.target !== to) throw new UserError(describeMove(begun))
    return locateMove(cluster, begun)
  }
  const project = await requireProject(home.store.writer, projectId)
  if (project.isDeleting) throw new UserError(`the project ${projectId} is being deleted`)
  const target = requireShard(cluster, to)
  const from = findOnlyShard(project, home.name)
  if (from === undefined) {
    throw new UserError(`the project ${projectId} lives across several shards and cannot be moved`)
  }
  if (from === to) throw new UserError(`the project ${projectId} lives on ${to} already`)
  const source = requireShard(cluster, from)
  await requireRollups([source, target])
  if (await hasRows(target.store.writer, projectId)) {
    throw new UserError(`${to} has data of a project ${projectId} already`)
  }
  const numbers = await reserveNumbers(source, target)
  const move = await startMove(home.store.writer, {
    projectId,
    source: from,
    target: to,
    ...numbers,
  })
  return { move, source, target }
}

/** Finds the shards of a move. @throws UserError for one that the configuration does not name */
export const locateMove = (cluster: Cluster, move: Move): BegunMove => ({
  move,
  source: requireShard(cluster, move.source),
  target: requireShard(cluster, move.target),
})

/** Says which move of a project is under way, and how to go on with it. */
export const describeMove = ({ projectId, source, target }: Move): string =>
  `the project ${projectId} is being moved from ${source} to ${target}: ` +
  `run "tallyhouse project move ${projectId} --to ${target}" again to finish that, or with --abort to give it up`

/** Finds the move of a project that has not ended; undefined if there is none, and for a store without a cluster. */
export const findMoveWithin = async (
  { home, shards }: Cluster,
  projectId: string,
): Promise<Move | undefined> =>
  // The account for queries does not see the journal.
  shards.length === 1 ? undefined : findMove(home.store.writer, projectId)

/** @throws UserError while the project is being moved */
export async function requireNoMove(cluster: Cluster, projectId: string): Promise<void> {
  const move = await findMoveWithin(cluster, projectId)
  if (move !== undefined) throw new UserError(describeMove(move))
}

/**
 * Returns a check that rejects if a project does not live any more where it did, or is being moved. While the caller holds the
 * loader lease of a shard of the project, the data there cannot leave it after the check.
 *
 * @param project as it was read before
 */
export const createResidenceCheck =
  (cluster: Cluster, { id, shards }: Pick<StoredProject, 'id' | 'shards'>) =>
  async (): Promise<void> => {
    if (cluster.shards.length === 1) return
    await requireNoMove(cluster, id)
    const now = await requireProject(cluster.home.store.writer, id)
    if (now.shards.join() === shards.join()) return
    throw new UserError(`the project ${id} was moved meanwhile: run the command again`)
  }

function requireShard(cluster: Cluster, name: string): Shard {
  const shard = findShard(cluster, name)
  if (shard !== undefined) return shard
  const names = cluster.shards.map((one) => one.name).join(', ')
  throw new UserError(`there is no shard ${name}: there are ${names}`)
}

/** Rollups are taken over as they are, so both stores must have the same. */
async function requireRollups(shards: readonly Shard[]): Promise<void> {
  for (const { name, store } of shards) {
    if ((await readRollupState(store.writer)) === 'current') continue
    throw new UserError(`the rollups of ${name} are not up to date: run "tallyhouse migrate" first`)
  }
}

/** How many loads the source may start until the project is switched: for more than a week, with one each second. */
const SPARE_LOADS = 1_000_000
/** The number of a load is the upper half of the number of a session. */
const MAX_LOAD = 2 ** 32 - 1

/** Reserves numbers of loads at the target, one for each of the source. */
const reserveNumbers = async (
  source: Shard,
  target: Shard,
): Promise<Pick<Move, 'base' | 'last'>> => {
  const count = (await readNextNumber(source.store.writer)) + SPARE_LOADS
  return withLoaderLease(target.store.writer, async (fenced) => {
    const base = await readNextNumber(fenced)
    const last = base + count
    if (last > MAX_LOAD) throw new UserError(`${target.name} has no numbers of loads left`)
    // Loads and deletions number themselves after what the journal of deletions has.
    const ended = { number: last, projectId: '', user: 0, token: '', reached: DELETION_STEP.ended }
    await recordDeletion(fenced, ended, DELETION_STEP.ended)
    return { base, last }
  })
}
