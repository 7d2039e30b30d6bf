/** Repairs the copies of projects on shards: those that were away when a project changed, and what broken changes left. */
import type { Connection } from '../clickhouse/connection.js'
import { withLease } from '../clickhouse/lease/lease.js'
import type { Logger } from '../lib/log.js'
import { startRepeating } from '../lib/repeat.js'
import { MINUTE_MS, SECOND_MS } from '../lib/time.js'
import { copyVersions, findVersion, listVersionMarks, writeVersion } from '../projects/versions.js'
import type { Cluster, Shard } from './cluster.js'
import { removeCopy } from './copies.js'
import { planSync, type SyncPlan } from './plan-sync.js'
import { createDeadline, tryShards, type FailedShard } from './reach.js'

/** What a sync did on all shards together. */
interface SyncReport {
  readonly copied: number
  readonly removed: number
  /** Copies of projects that do not live on their shard, which has data of them: `shard2: shop`. */
  readonly kept: readonly string[]
  /** The shards that did not answer. */
  readonly away: readonly FailedShard[]
}

interface SyncOptions {
  /** Whether copies are removed that should not be there; true by default. */
  readonly removes?: boolean
}

/**
 * Makes the copies of projects on all shards that answer equal to the projects at home. Changes are made under the lease
 * `projects` of home, by what is read under it, so other processes may change projects meanwhile. Without differences, nothing
 * is written.
 *
 * @throws the error of the home, if that is away
 */
export async function syncProjects(
  cluster: Cluster,
  { removes = true }: SyncOptions = {},
): Promise<SyncReport> {
  const { home } = cluster
  const others = cluster.shards.filter((shard) => shard !== home)
  const found = await compare(home, others, removes)
  if (found.plans.size === 0) return { ...NOTHING, away: found.away }
  return withLease(home.store.writer, 'projects', async () => {
    const { plans, away } = await compare(home, [...found.plans.keys()], removes)
    await raiseVersions(home.store.writer, [...plans.values()])
    const reports: SyncReport[] = []
    const failed = await tryShards([...plans.keys()], async (shard) => {
      const plan = plans.get(shard)
      if (plan !== undefined) reports.push(await applyPlan(home, shard, plan))
    })
    return {
      copied: reports.reduce((sum, { copied }) => sum + copied, 0),
      removed: reports.reduce((sum, { removed }) => sum + removed, 0),
      kept: reports.flatMap(({ kept }) => kept),
      away: [...found.away, ...away, ...failed],
    }
  })
}

const NOTHING: SyncReport = { copied: 0, removed: 0, kept: [], away: [] }

interface Comparison {
  /** What is to be done, for each shard that needs something. */
  readonly plans: ReadonlyMap<Shard, SyncPlan>
  readonly away: readonly FailedShard[]
}

/** Asks each store once. */
async function compare(
  home: Shard,
  others: readonly Shard[],
  removes: boolean,
): Promise<Comparison> {
  const plans = new Map<Shard, SyncPlan>()
  if (others.length === 0) return { plans, away: [] }
  const marks = await listVersionMarks(home.store.writer, { signal: createDeadline() })
  const away = await tryShards(others, async (shard) => {
    const copies = await listVersionMarks(shard.store.writer, { signal: createDeadline() })
    const plan = planSync(marks, shard.name, copies)
    const { copy, remove, raise } = plan
    if (copy.length + raise.size > 0 || (removes && remove.length > 0)) plans.set(shard, plan)
  })
  return { plans, away }
}

/** Gives projects at home a later version than their copies have: what is at home counts. */
async function raiseVersions(writer: Connection, plans: readonly SyncPlan[]): Promise<void> {
  const raised = new Map<string, number>()
  for (const [id, version] of plans.flatMap(({ raise }) => [...raise])) {
    raised.set(id, Math.max(version, raised.get(id) ?? 0))
  }
  for (const [id, version] of raised) {
    const current = await findVersion(writer, id)
    if (current === undefined) continue
    await writeVersion(writer, { project: current.project, version: version + 1 })
  }
}

async function applyPlan(
  home: Shard,
  { name, store: { writer } }: Shard,
  { copy, remove, raise }: SyncPlan,
): Promise<SyncReport> {
  const kept = new Set<string>()
  for (const id of remove) if (!(await removeCopy(writer, id))) kept.add(id)
  const ids = [...copy, ...raise.keys()].filter((id) => !kept.has(id))
  await copyVersions(home.store.writer, writer, ids, createDeadline)
  return {
    copied: ids.length,
    removed: remove.length - kept.size,
    kept: [...kept].map((id) => `${name}: ${id}`),
    away: [],
  }
}

/** From one comparison to the next. */
const SYNC_INTERVAL_MS = 5 * SECOND_MS
/** A copy that should not be there does no harm. */
const REMOVAL_INTERVAL_MS = 5 * MINUTE_MS

/** Syncs at once, and then every few seconds. Returns a function that stops it; without other shards there is nothing to do. */
export function startProjectSync(cluster: Cluster, logger: Logger): () => Promise<void> {
  let removedAt = -Infinity
  const syncOnce = async (): Promise<void> => {
    const removes = performance.now() - removedAt >= REMOVAL_INTERVAL_MS
    if (removes) removedAt = performance.now()
    const { copied, removed, kept } = await syncProjects(cluster, { removes })
    if (copied + removed > 0) logger.info({ copied, removed }, 'repaired the copies of projects')
    if (kept.length > 0) {
      logger.warn({ kept }, 'shards have data of projects that do not live there')
    }
  }
  if (cluster.shards.length === 1) return () => Promise.resolve()
  return startRepeating(
    () =>
      syncOnce().catch((error: unknown) =>
        logger.warn({ err: error }, 'the copies of projects could not be compared'),
      ),
    SYNC_INTERVAL_MS,
  )
}
