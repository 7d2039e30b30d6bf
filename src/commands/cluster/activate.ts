/** The command `tallyhouse cluster activate`: hands a shard over to another of its replicas. */
import { NotReadyError, handOver } from '../../clickhouse/replicas/take-over.js'
import { watchReplicas } from '../../clickhouse/replicas/watch.js'
import { UserError } from '../../lib/errors.js'
import type { AddCommand } from '../shared/context.js'
import { requireCluster } from './require-cluster.js'

export const addClusterActivate: AddCommand = (cluster, context) => {
  cluster
    .command('activate')
    .description('Make another replica of a shard the active one, between two loads')
    .argument('<shard>', 'Name of the shard')
    .argument('<replica>', 'Name of the replica')
    .action(async (shard: string, name: string) => {
      const { shards } = requireCluster(context.config())
      const set = shards.find((one) => one.name === shard)?.endpoint.replicas
      const member = set?.members.find(({ replica }) => replica.name === name)
      if (set === undefined || member === undefined) {
        throw new UserError(
          `the file that CLUSTER names has no replica ${name} of a shard ${shard}`,
        )
      }
      const watch = watchReplicas(set)
      try {
        await watch.look()
        const isActive = set.getLast().active === name
        if (!isActive) {
          await handOver(set, member).catch((error: unknown) => {
            throw error instanceof NotReadyError ? new UserError(error.message) : error
          })
        }
        context.print(`Replica ${name} is active${isActive ? '' : ' now'}.`)
      } finally {
        await watch.stop()
      }
    })
}
