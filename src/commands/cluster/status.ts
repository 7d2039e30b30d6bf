/** The command `tallyhouse cluster status`: how each shard is, and what queries across them cost. */
import { hasEngine, openEngine } from '../../bootstrap/open-engine.js'
import { listPlaces, type ShardPlace } from '../../bootstrap/shard-places.js'
import type { Engine } from '../../clickhouse/embedded/engine.js'
import type { Config } from '../../config/config.js'
import { formatCount } from '../../lib/counts.js'
import { UserError } from '../../lib/errors.js'
import type { AddCommand } from '../shared/context.js'
import { formatJson } from '../shared/output.js'
import { examineCluster, type FoundShard } from './examine-cluster.js'
import { formatStatus, isFaulty } from './status-output.js'

export const addClusterStatus: AddCommand = (cluster, context) => {
  cluster
    .command('status')
    .description('Show how each shard is, and exit with 1 if one needs attention')
    .option('--json', 'Print JSON')
    .action(({ json = false }: { readonly json?: boolean }) =>
      withShards(context.config(), 'tallyhouse cluster status', async (shards) => {
        const status = await examineCluster(shards, context.now)
        context.print(json ? formatJson(status) : formatStatus(status))
        const faulty = status.shards.filter(isFaulty).length
        if (faulty > 0)
          throw new UserError(`${formatCount(faulty, 'shard')} of ${shards.length} need attention`)
        if ((status.whole?.reason ?? null) !== null)
          throw new UserError('queries over all shards fail')
      }),
    )
}

/** Finds all shards, runs `work` with them, and stops the engines that were started for it. */
async function withShards<Result>(
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
