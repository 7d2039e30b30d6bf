/** How the shards of a cluster are asked beside each other: one that is away keeps nobody waiting for long. */
import { getClickHouseReason, isUnreachable, QueryCancelledError } from '../clickhouse/errors.js'
import { SECOND_MS } from '../lib/time.js'
import type { Shard } from './cluster.js'

/** A shard that takes longer for a statement about projects counts as away. */
const RESPONSE_MS = 5 * SECOND_MS

/** Returns the signal that ends a short statement on a shard. */
export const createDeadline = (): AbortSignal => AbortSignal.timeout(RESPONSE_MS)

/** A shard that could not do its work. */
export interface FailedShard {
  readonly name: string
  readonly error: unknown
}

/** Does the same work on each shard at once. Returns the shards that failed; it rejects only for what is no failure of a store. */
export async function tryShards(
  shards: readonly Shard[],
  work: (shard: Shard) => Promise<unknown>,
): Promise<readonly FailedShard[]> {
  const outcomes = await Promise.all(
    shards.map((shard) =>
      work(shard).then(
        () => [],
        (error: unknown) => [{ name: shard.name, error }],
      ),
    ),
  )
  const failed = outcomes.flat()
  const mistake = failed.find(({ error }) => !isStoreFailure(error))
  if (mistake !== undefined) throw mistake.error
  return failed
}

/** Returns whether an error says that a store is away, or that it refuses a statement for now. */
export const isStoreFailure = (error: unknown): boolean =>
  isUnreachable(error) ||
  error instanceof QueryCancelledError ||
  getClickHouseReason(error) !== undefined

/** Names a shard that failed, and why: `shard2 does not answer`, or the reason of its ClickHouse. */
export const describeFailure = ({ name, error }: FailedShard): string => {
  const reason = getClickHouseReason(error)
  return reason === undefined ? `${name} does not answer` : `${name} refuses: ${reason}`
}
