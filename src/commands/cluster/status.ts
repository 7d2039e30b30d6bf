/** The command `tallyhouse cluster status`: how each shard is, and what queries across them cost. */
import { UserError } from '../../lib/errors.js'
import type { AddCommand } from '../shared/context.js'
import { formatCount, formatJson } from '../shared/output.js'
import { examineCluster } from './examine-cluster.js'
import { withShards } from './find-shards.js'
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
