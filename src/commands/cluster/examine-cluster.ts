/** Asks all shards of a cluster how they are, and what queries across them cost. */
import { connectStore, type Store } from '../../clickhouse/store.js'
import type { Endpoint, ReplicaSet } from '../../clickhouse/endpoint.js'
import { watchReplicas } from '../../clickhouse/replicas/watch.js'
import { listProjects } from '../../projects/store.js'
import { describeState } from '../../relocation/describe.js'
import { listUnfinishedRelocations } from '../../relocation/journal.js'
import { examineReplicas, type ReplicasStatus } from '../shared/examine-replicas.js'
import { describeFailure, examineShard, type ShardFacts } from './examine-shard.js'
import { findSmallestGroup, findWholeGroup, timeGroup, type TimedGroup } from './time-groups.js'

/** A shard and where it is, if it is anywhere. */
export interface FoundShard {
  readonly name: string
  /** The address of its ClickHouse, or why there is none. */
  readonly endpoint: Endpoint | Error
}

export interface ShardStatus {
  readonly name: string
  /** Without an account, of replicas all, with commas; null for an embedded engine that does not run. */
  readonly url: string | null
  /** Why it does not answer; null if it does. */
  readonly reason: string | null
  /** Null if it does not answer. */
  readonly facts: ShardFacts | null
  /** The projects that live on it, or across it and others; null if the home does not answer. */
  readonly projects: number | null
  /** A query over its smallest group, run by this shard; null if it does not answer, and for a single store. */
  readonly neighbours: TimedGroup | null
  /** Its replicas; left out for a single server. */
  readonly replicas?: ReplicasStatus
}

export interface ClusterStatus {
  /** In the order of the configuration: the home first. */
  readonly shards: readonly ShardStatus[]
  /** A query over all shards, run by the home; null if it does not answer, and for a single store. */
  readonly whole: TimedGroup | null
  /** The projects that are being moved or widened, and what is done to each; none if the home does not answer. */
  readonly relocations: readonly string[]
}

/** Asks all shards beside each other. Never rejects because of one. */
export async function examineCluster(
  shards: readonly FoundShard[],
  now: () => Date,
): Promise<ClusterStatus> {
  const stores = new Map(
    shards.flatMap(({ name, endpoint }) =>
      endpoint instanceof Error ? [] : [[name, connectStore(endpoint)]],
    ),
  )
  const watches = shards.flatMap(({ endpoint }) =>
    endpoint instanceof Error || endpoint.replicas === undefined
      ? []
      : [watchReplicas(endpoint.replicas)],
  )
  try {
    // One without an active replica is reported below.
    await Promise.allSettled(watches.map((watch) => watch.look()))
    return await examineStores(shards, stores, now)
  } finally {
    await Promise.all(watches.map((watch) => watch.stop()))
    await Promise.all([...stores.values()].map((store) => store.close()))
  }
}

async function examineStores(
  shards: readonly FoundShard[],
  stores: ReadonlyMap<string, Store>,
  now: () => Date,
): Promise<ClusterStatus> {
  const names = shards.map(({ name }) => name)
  // No query runs across shards that have replicas.
  const grouped = shards.some(isReplicated) ? [] : names
  const homeName = names[0] ?? ''
  const home = stores.get(homeName)
  const counts = home === undefined ? null : await countProjects(home, homeName)
  const examined = await Promise.all(
    shards.map(async (shard): Promise<ShardStatus> => ({
      ...(await examineFound(shard, stores.get(shard.name), grouped, now)),
      projects: counts === null ? null : (counts.get(shard.name) ?? 0),
    })),
  )
  const relocations = home === undefined ? [] : await listRelocations(home)
  const whole = findWholeGroup(grouped)
  const isAnswering = examined[0]?.facts !== null
  if (home === undefined || whole === undefined || !isAnswering) {
    return { shards: examined, whole: null, relocations }
  }
  return { shards: examined, whole: await timeGroup(home, whole), relocations }
}

async function examineFound(
  { name, endpoint }: FoundShard,
  store: Store | undefined,
  all: readonly string[],
  now: () => Date,
): Promise<Omit<ShardStatus, 'projects'>> {
  const away = { name, facts: null, neighbours: null }
  if (endpoint instanceof Error || store === undefined) {
    return { ...away, url: null, reason: describeFailure(endpoint) }
  }
  const { url } = endpoint
  if (endpoint.replicas !== undefined) {
    return { ...away, url, ...(await examineReplicated(endpoint.replicas, store, now)) }
  }
  try {
    const facts = await examineShard(store, now)
    const group = findSmallestGroup(all, name)
    const neighbours = group === undefined ? null : await timeGroup(store, group)
    return { name, url, reason: null, facts, neighbours }
  } catch (error) {
    return { ...away, url, reason: describeFailure(error) }
  }
}

const isReplicated = ({ endpoint }: FoundShard): boolean =>
  !(endpoint instanceof Error) && endpoint.replicas !== undefined

/** Asks the replicas, and the store through the active one. No query runs across it and other shards. */
async function examineReplicated(
  set: ReplicaSet,
  store: Store,
  now: () => Date,
): Promise<Pick<ShardStatus, 'reason' | 'facts' | 'replicas'>> {
  const replicas = await examineReplicas(set)
  try {
    return { replicas, reason: null, facts: await examineShard(store, now) }
  } catch (error) {
    return { replicas, reason: describeFailure(error), facts: null }
  }
}

/** A home that does not answer, or has no tables yet, has none. */
async function listRelocations({ writer }: Store): Promise<readonly string[]> {
  const unfinished = await listUnfinishedRelocations(writer).catch(() => [])
  return unfinished.map((one) => `${one.projectId} ${describeState(one)}`)
}

/** Counts the projects of each shard; null if the home does not answer. */
async function countProjects(
  { lookups }: Store,
  home: string,
): Promise<ReadonlyMap<string, number> | null> {
  const projects = await listProjects(lookups).catch(() => null)
  if (projects === null) return null
  const counts = new Map<string, number>()
  for (const { shards } of projects) {
    for (const name of shards.length === 0 ? [home] : shards) {
      counts.set(name, (counts.get(name) ?? 0) + 1)
    }
  }
  return counts
}
