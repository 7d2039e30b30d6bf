/** The transfers of a relocation: what each new shard gets from which former one. */
import { findShard, type Cluster, type Shard } from '../cluster/cluster.js'
import { UserError } from '../lib/errors.js'
import { isWidening, type Relocation } from './journal.js'
import type { KnownDigests } from './rows/digests.js'
import { ALL_ROWS, shareRows, type Transfer } from './rows/transfer.js'

/** Lists the transfers of a relocation. @throws UserError for a shard that the configuration does not name */
export const listTransfers = (
  cluster: Cluster,
  relocation: Relocation,
  known: KnownDigests,
): readonly Transfer[] => {
  const { number, projectId, shards, legs } = relocation
  return legs.map(({ source, target, base, last }) => ({
    ...(isWidening(relocation)
      ? shareRows(projectId, { index: shards.indexOf(target), width: shards.length })
      : ALL_ROWS),
    ...{ number, projectId, base, last, known },
    source: requireShard(cluster, source),
    target: requireShard(cluster, target),
  }))
}

/** Finds a shard by its name. @throws UserError if the configuration does not name it */
export function requireShard(cluster: Cluster, name: string): Shard {
  const shard = findShard(cluster, name)
  if (shard !== undefined) return shard
  const names = cluster.shards.map((one) => one.name).join(', ')
  throw new UserError(`there is no shard ${name}: there are ${names}`)
}
