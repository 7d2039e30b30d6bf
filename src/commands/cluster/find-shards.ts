/** Finds the stores that a configuration describes, each on its own: one that is away does not hide the others. */
import { hasEngine, openEngine } from '../../bootstrap/open-engine.js'
import { listPlaces, type ShardPlace } from '../../bootstrap/shard-places.js'
import type { Engine } from '../../clickhouse/embedded/engine.js'
import type { Config } from '../../config/config.js'
import type { FoundShard } from './examine-cluster.js'

/** Finds all shards, runs `work` with them, and stops the engines that were started for it. */
export async function withShards<Result>(
  config: Config,
  purpose: string,
  work: (shards: readonly FoundShard[]) => Promise<Result>,
): Promise<Result> {
  const engines: Engine[] = []
  const find = async ({ name, clickhouse, dataDir, member }: ShardPlace): Promise<FoundShard> => {
    if (clickhouse !== undefined) return { name, endpoint: clickhouse }
    try {
      // An engine that starts only to be looked at would leave an empty database in a mistyped folder.
      if (!(await hasEngine(dataDir))) throw new Error(`there is no database in ${dataDir} yet`)
      const opened = await openEngine({ dataDir, purpose, ...(member && { member }) })
      if (opened.engine !== undefined) engines.push(opened.engine)
      return { name, endpoint: opened.endpoint }
    } catch (error) {
      return { name, endpoint: error instanceof Error ? error : new Error(String(error)) }
    }
  }
  try {
    return await work(await Promise.all((await listPlaces(config)).map(find)))
  } finally {
    await Promise.all(engines.map((engine) => engine.stop()))
  }
}
