/** Begins the relocation of a project, or finds the one that was interrupted. */
import type { Cluster, Shard } from '../cluster/cluster.js'
import { placeWider } from '../cluster/place-wider.js'
import { recordStep as recordDeletion, STEP as DELETION_STEP } from '../deletion/journal.js'
import { readNextNumber } from '../ingest/loader/load-log.js'
import { withLoaderLease } from '../ingest/loader/with-loader-lease.js'
import { UserError } from '../lib/errors.js'
import { formatDay } from '../lib/time.js'
import type { StoredProject } from '../projects/project.js'
import { requireProject } from '../projects/store.js'
import { readRollupState } from '../rollups/progress.js'
import { canReadDepartures } from './rows/departures.js'
import { describeRelocation } from './describe.js'
import {
  findRelocation,
  isWidening,
  startRelocation,
  type Leg,
  type Relocation,
} from './journal.js'
import { hasRows } from './rows/staging.js'
import { listShardNames } from './switch-directory.js'
import { requireShard } from './transfers.js'

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
): Promise<Relocation> {
  const begun = await findBegun(cluster, projectId, ({ shards }) => shards.join() === to)
  if (begun !== undefined) return begun
  const project = await requireKept(cluster, projectId)
  requireShard(cluster, to)
  const [from = '', ...others] = listShardNames(cluster, project)
  if (others.length > 0) {
    throw new UserError(`the project ${projectId} lives across several shards and cannot be moved`)
  }
  if (from === to) throw new UserError(`the project ${projectId} lives on ${to} already`)
  return begin(cluster, projectId, [to], [{ source: from, target: to }])
}

/**
 * Begins a widening, or finds the one that was interrupted. The caller holds the lease `moves` of the home.
 *
 * @param width the number of shards that the project lives across afterwards
 * @throws UserError if the project cannot be widened to that
 */
export async function beginWidening(
  cluster: Cluster,
  projectId: string,
  width: number,
  now: Date,
): Promise<Relocation> {
  const begun = await findBegun(
    cluster,
    projectId,
    (one) => isWidening(one) && one.shards.length === width,
  )
  if (begun !== undefined) return begun
  const project = await requireKept(cluster, projectId)
  const former = listShardNames(cluster, project)
  requireMultiple(projectId, former.length, width)
  requirePastCut(project, now)
  const shards = await placeWider(cluster, former, width)
  for (const name of shards) {
    if (await canReadDepartures(requireShard(cluster, name).store.reader)) continue
    throw new UserError(
      `the account for queries may not read the table departures of ${name}: ` +
        'give it the rights of clickhouse/config/users.xml',
    )
  }
  const pairs = shards.slice(former.length).map((target, i) => ({
    source: former[i % former.length] ?? '',
    target,
  }))
  return begin(cluster, projectId, shards, pairs)
}

/** Finds the relocation of a project that has not ended. @throws UserError if it is another one */
async function findBegun(
  { home }: Cluster,
  projectId: string,
  isMeant: (relocation: Relocation) => boolean,
): Promise<Relocation | undefined> {
  const begun = await findRelocation(home.store.writer, projectId)
  if (begun !== undefined && !isMeant(begun)) throw new UserError(describeRelocation(begun))
  return begun
}

async function requireKept({ home }: Cluster, projectId: string): Promise<StoredProject> {
  const project = await requireProject(home.store.writer, projectId)
  if (project.isDeleting) throw new UserError(`the project ${projectId} is being deleted`)
  return project
}

/** Only then does every new shard get its users from one former shard, and no former shard gets any. */
function requireMultiple(projectId: string, former: number, width: number): void {
  if (former === width) {
    throw new UserError(`the project ${projectId} lives across ${width} shards already`)
  }
  if (width > former && width % former === 0) return
  throw new UserError(
    `the project ${projectId} lives across ${former} shards: --width is a multiple of that`,
  )
}

/** Until then, events of derived users of the next days would go by two former widths. */
function requirePastCut({ id, formerWidths }: StoredProject, now: Date): void {
  const until = formerWidths.at(-1)?.until
  if (until === undefined || until <= now) return
  throw new UserError(
    `the project ${id} was widened lately: it can be widened again from ${formatDay(until)} (UTC) on`,
  )
}

async function begin(
  cluster: Cluster,
  projectId: string,
  shards: readonly string[],
  pairs: readonly Pick<Leg, 'source' | 'target'>[],
): Promise<Relocation> {
  const { writer } = cluster.home.store
  const names = pairs.flatMap(({ source, target }) => [source, target])
  const own = [...new Set(names)].map((name) => requireShard(cluster, name))
  await requireRollups(own)
  const legs: Leg[] = []
  for (const { source, target } of pairs) {
    if (await hasRows(requireShard(cluster, target).store.writer, projectId)) {
      throw new UserError(`${target} has data of a project ${projectId} already`)
    }
    const numbers = await reserveNumbers(
      requireShard(cluster, source),
      requireShard(cluster, target),
    )
    legs.push({ source, target, ...numbers })
  }
  return startRelocation(writer, { projectId, shards, legs })
}

/**
 * Checks that the rollups of shards are current. Rollups are taken over as they are, or counted by the same views, so all stores must have
 * the same.
 *
 * @throws UserError
 */
export async function requireRollups(shards: readonly Shard[]): Promise<void> {
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
): Promise<Pick<Leg, 'base' | 'last'>> => {
  const count = (await readNextNumber(source.store.writer)) + SPARE_LOADS
  return withLoaderLease(target.store.writer, async (fenced) => {
    const base = await readNextNumber(fenced)
    const last = base + count
    if (last > MAX_LOAD) throw new UserError(`${target.name} has no numbers of loads left`)
    // Loads and deletions number themselves after what the journal of deletions has.
    const ended = {
      number: last,
      projectId: '',
      users: [],
      token: '',
      reached: DELETION_STEP.ended,
    }
    await recordDeletion(fenced, ended, DELETION_STEP.ended)
    return { base, last }
  })
}
