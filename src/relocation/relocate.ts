/**
 * Gives a project other shards, while queries are answered and events are accepted: moves it from one to another, or widens it,
 * so that some of its users leave for new ones.
 */
import { LeaseTimeoutError, withLease } from '../clickhouse/lease/lease.js'
import type { Cluster } from '../cluster/cluster.js'
import { finishInterruptedWork } from '../ingest/loader/loader.js'
import { UserError } from '../lib/errors.js'
import { findProject } from '../projects/store.js'
import { beginMove, beginWidening } from './begin-relocation.js'
import { clearSources, dropStaged } from './clear-sources.js'
import { forgetDepartures } from './rows/departures.js'
import { describeRelocation } from './describe.js'
import { fenceCluster } from './hold-leases.js'
import {
  findRelocation,
  isWidening,
  listSources,
  recordStep,
  STEP,
  type Relocation,
} from './journal.js'
import type { RelocationOptions, Run } from './run.js'
import { removeProject } from './rows/staging.js'
import { livesOn, takeBackSwitch } from './switch-directory.js'
import { switchOver } from './switch-over.js'
import { requireShard } from './transfers.js'

/**
 * Moves a project. Calling it again goes on after an interruption.
 *
 * @param to the name of the shard to move to
 * @throws UserError if the project cannot be moved there, or another relocation is running
 */
export const moveProject = (
  options: RelocationOptions,
  projectId: string,
  to: string,
): Promise<void> =>
  withRun(options, async (run) => relocate(run, await beginMove(run.cluster, projectId, to)))

/**
 * Widens a project. Calling it again goes on after an interruption.
 *
 * @param width the number of shards that it lives across afterwards
 * @returns their names, in order
 * @throws UserError if the project cannot be widened to that, or another relocation is running
 */
export const widenProject = (
  options: RelocationOptions,
  projectId: string,
  width: number,
): Promise<readonly string[]> =>
  withRun(options, async (run) => {
    const relocation = await beginWidening(run.cluster, projectId, width, run.now())
    await relocate(run, relocation)
    return relocation.shards
  })

async function relocate(run: Run, begun: Relocation): Promise<void> {
  const { writer } = run.cluster.home.store
  if (!(await isSwitched(run.cluster, begun))) await switchOver(run, begun)
  const switched = await recordStep(writer, begun, STEP.switched)
  await clearSources(run, switched)
  await recordStep(writer, switched, STEP.ended)
}

/** Gives up a move. @throws UserError if there is none, or it has switched */
export const abortMove = (options: RelocationOptions, projectId: string): Promise<void> =>
  abort(options, projectId, 'moved')

/** Gives up a widening. @throws UserError if there is none, or it has switched */
export const abortWidening = (options: RelocationOptions, projectId: string): Promise<void> =>
  abort(options, projectId, 'widened')

/** Gives up a relocation that has not switched yet: the project stays where it is. */
const abort = (
  options: RelocationOptions,
  projectId: string,
  verb: 'moved' | 'widened',
): Promise<void> =>
  withRun(options, async ({ cluster, getContext }) => {
    const { writer } = cluster.home.store
    const relocation = await findRelocation(writer, projectId)
    if (relocation === undefined) {
      throw new UserError(`the project ${projectId} is not being ${verb}`)
    }
    if (isWidening(relocation) !== (verb === 'widened')) {
      throw new UserError(describeRelocation(relocation))
    }
    if (await isSwitched(cluster, relocation)) {
      const { shards } = relocation
      throw new UserError(
        `the project ${projectId} lives on ${shards.join(', ')} already: finish what has begun`,
      )
    }
    for (const { target } of relocation.legs) {
      const shard = requireShard(cluster, target)
      await removeProject(shard, projectId, (fenced) =>
        finishInterruptedWork(fenced, getContext(shard)),
      )
      await dropStaged(shard)
    }
    for (const name of listSources(relocation)) {
      await forgetDepartures(requireShard(cluster, name).store.writer, projectId)
    }
    await takeBackSwitch(cluster, relocation)
    await recordStep(writer, relocation, STEP.ended)
  })

/** A killed process holds its lease until it expires. */
const LEASE_WAIT_MS = 12_000

/** Runs one relocation at a time; its connections send nothing once another process may have taken over. */
async function withRun<Result>(
  options: RelocationOptions,
  work: (run: Run) => Promise<Result>,
): Promise<Result> {
  const { cluster } = options
  try {
    return await withLease(
      cluster.home.store.writer,
      'moves',
      ({ signal }) =>
        work({ onProgress: () => undefined, ...options, cluster: fenceCluster(cluster, signal) }),
      { waitMs: LEASE_WAIT_MS, requestsTurn: false },
    )
  } catch (error) {
    if (!(error instanceof LeaseTimeoutError)) throw error
    throw new UserError('another project is being moved or widened: try again when that has ended')
  }
}

/** Whether the project lives on its new shards, which may not be recorded in the journal yet. */
async function isSwitched(cluster: Cluster, relocation: Relocation): Promise<boolean> {
  if (relocation.reached >= STEP.switched) return true
  const project = await findProject(cluster.home.store.writer, relocation.projectId)
  return project !== undefined && livesOn(cluster, project, relocation)
}
