/** Runs the query of `tallyhouse explain`, and reads what it cost: each shard, if the project lives across several. */
import { randomUUID } from 'node:crypto'
import { getClickHouseReason } from '../clickhouse/errors.js'
import { createQueryRunner } from '../clickhouse/run.js'
import type { Statement } from '../clickhouse/sql.js'
import type { ProjectShards } from '../cluster/cluster.js'
import { isStoreFailure } from '../cluster/reach.js'
import { openReader } from '../cluster/shard-reads.js'
import { readLoggedCosts, withLog, type LoggedCosts } from '../cluster/shard-costs.js'
import type { Explanation, ShardCosts } from './explain-output.js'
import type { CommandContext } from './shared/context.js'

/** How many statements answer a query across shards. */
const STATEMENTS = 1

/** Runs the statement of a query. @throws ApiError when it fails */
export async function runExplained(
  context: CommandContext,
  shards: ProjectShards,
  asked: Statement,
): Promise<NonNullable<Explanation['run']>> {
  const [{ store }, ...others] = shards
  const requestId = `explain-${randomUUID()}`
  const reader = others.length === 0 ? store.reader : withLog(openReader(shards))
  const { queryTimeoutMs } = context.config()
  const run = createQueryRunner({ ...store, reader }, queryTimeoutMs, { requestId })
  const { rows, cost } = await run(asked)
  const answered = { ...cost, rows: rows.length }
  if (others.length === 0) return answered
  return { ...answered, ...(await readShardCosts(context, shards, requestId, STATEMENTS)) }
}

/**
 * Reads what the statements of a request cost each shard. A shard whose log does not tell is left out and noted: the account
 * of the command may lack the right to read it, or a server keeps no log.
 *
 * @param count how many statements the request had
 */
async function readShardCosts(
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
