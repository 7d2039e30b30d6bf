/** Where the stores of a configuration are: a server, the servers of a cluster, or the folders of embedded engines. */
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import {
  createAddresses,
  type EngineGroup,
  type EngineMember,
} from '../clickhouse/embedded/member.js'
import { HOME, type Endpoint } from '../clickhouse/endpoint.js'
import { listServedGroups } from '../cluster/groups.js'
import type { Config } from '../config/config.js'
import { nameEmbeddedShards } from '../config/stores.js'
import { UserError } from '../lib/errors.js'

/** Where a shard is. */
export interface ShardPlace {
  readonly name: string
  /** The server; undefined for an embedded engine. */
  readonly clickhouse: Endpoint | undefined
  /** The folder of the embedded engine. */
  readonly dataDir: string
  /** For an embedded engine that has others beside it. */
  readonly member?: EngineMember
}

type ShardPlaces = readonly [ShardPlace, ...ShardPlace[]]

/** The part of the configuration that says where the stores are. */
export type StoresConfig = Pick<Config, 'clickhouse' | 'cluster' | 'embeddedShards' | 'dataDir'>

/** The folder, in the data folder, of all embedded engines but the first. */
const SHARDS = 'shards'

/**
 * Returns where the shards are, the home first. The engines of a service that runs on the data folder are used, so
 * addresses are chosen only for engines that are about to start.
 *
 * @throws UserError when the data folder has more shards than the configuration
 */
export async function listPlaces(config: StoresConfig): Promise<ShardPlaces> {
  const { clickhouse, cluster, dataDir } = config
  if (cluster !== undefined) {
    const [home, ...others] = cluster.shards.map(({ name, endpoint }) => ({
      name,
      clickhouse: endpoint,
      dataDir,
    }))
    if (home !== undefined) return [home, ...others]
  }
  if (clickhouse !== undefined) return [{ name: HOME, clickhouse, dataDir }]
  return listEmbedded(config)
}

async function listEmbedded({ dataDir, embeddedShards }: StoresConfig): Promise<ShardPlaces> {
  const found = await countFolders(dataDir)
  if (found > embeddedShards) {
    throw new UserError(
      `the data folder ${dataDir} has ${found} shards: set EMBEDDED_SHARDS to ${found} or more`,
    )
  }
  const alone = { name: HOME, clickhouse: undefined, dataDir }
  if (embeddedShards === 1) return [alone]
  const names = nameEmbeddedShards(embeddedShards)
  const addresses = await createAddresses(embeddedShards)
  const groups = listServedGroups(names).map(({ name, shards }): EngineGroup => ({
    name,
    engines: addresses.filter((_, i) => shards.includes(names[i] ?? '')),
  }))
  const [home, ...others] = addresses.map((address, i) => ({
    name: names[i] ?? '',
    clickhouse: undefined,
    dataDir: getShardDir(dataDir, i + 1),
    member: { ...address, groups },
  }))
  return [home ?? alone, ...others]
}

/** Returns the data folder of an embedded engine by its number, from 1. */
const getShardDir = (dataDir: string, number: number): string =>
  number === 1 ? dataDir : path.join(dataDir, SHARDS, String(number))

/** Returns the highest number of a shard that has a folder; 1 if none has. */
async function countFolders(dataDir: string): Promise<number> {
  const names = await readdir(path.join(dataDir, SHARDS)).catch((): string[] => [])
  return Math.max(1, ...names.filter((name) => /^\d{1,4}$/.test(name)).map(Number))
}
