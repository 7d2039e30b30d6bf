/** What the query of `tallyhouse explain` cost each shard of a wide project, for its output. */
import { getClickHouseReason } from '../clickhouse/errors.js'
import type { ProjectShards } from '../cluster/cluster.js'
import { isStoreFailure } from '../cluster/reach.js'
import { readLoggedCosts, type LoggedCosts } from '../cluster/shard-costs.js'
import type { ShardCosts } from './explain-output.js'
import type { CommandContext } from './shared/context.js'

/**
 * Reads what the statements of a request cost each shard. A shard whose log does not tell is left out and noted: the account
 * of the command may lack the right to read it, or a server keeps no log.
 *
 * @param count how many statements the request had
 */
export async function readShardCosts(
  { note }: CommandContext,
  shards: ProjectShards,
  requestId: string,
  count: number,
): Promise<ShardCosts> {
  const read = await Promise.all(
    shards.map(({ store }, i) =>
      readLoggedCosts(store, requestId, count, i === 0).then(
        (costs) => costs ?? 'its system.query_log does not have the query',
        (error: unknown) => {
          if (!isStoreFailure(error)) throw error
          return getClickHouseReason(error) ?? 'it does not answer'
        },
      ),
    ),
  )
  const known = shards.flatMap(({ name }, i): readonly (LoggedCosts & { name: string })[] => {
    const costs = read[i]
    if (typeof costs === 'object') return [{ name, ...costs }]
    note(`what ${name} did is not known: ${costs}`)
    return []
  })
  const asking = known.find((costs) => costs.asking !== undefined)?.asking
  return {
    shards: known.map(({ name, asked }) => ({ name, ...asked })),
    asking: asking === undefined ? null : { ms: asking.ms, cpuMs: asking.cpuMs },
  }
}
