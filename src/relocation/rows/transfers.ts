/** What one shard gets from another when a project is relocated. */
import { sql, TRUE, type Sql } from '../../clickhouse/sql.js'
import { findShard, type Cluster, type Shard } from '../../cluster/cluster.js'
import { UserError } from '../../lib/errors.js'
import { selectLeavers } from './departures.js'
import { isWidening, type Leg, type Relocation } from '../journal.js'
import { MOVED_TABLES, type MovedTable } from './moved-tables.js'

/** A leg of a relocation, with its shards and its rows. */
export interface Transfer extends Omit<Leg, 'source' | 'target'> {
  /** The number of the relocation. */
  readonly number: number
  readonly projectId: string
  readonly source: Shard
  readonly target: Shard
  /** The tables whose rows are copied. */
  readonly copied: readonly MovedTable[]
  /** The tables that are staged: those, and what the target counts. */
  readonly staged: readonly MovedTable[]
  /** Builds the condition that a row of the project at the source is copied. */
  readonly isCopied: (moved: MovedTable) => Sql
}

/** Lists the transfers of a relocation. @throws UserError for a shard that the configuration does not name */
export const listTransfers = (cluster: Cluster, relocation: Relocation): readonly Transfer[] =>
  relocation.legs.map((leg) => ({
    ...leg,
    number: relocation.number,
    projectId: relocation.projectId,
    source: requireShard(cluster, leg.source),
    target: requireShard(cluster, leg.target),
    ...(isWidening(relocation) ? shareTables(relocation, leg.target) : ALL_ROWS),
  }))

type Rows = Pick<Transfer, 'copied' | 'staged' | 'isCopied'>

const ALL_ROWS: Rows = { copied: MOVED_TABLES, staged: MOVED_TABLES, isCopied: () => TRUE }

/** What a new shard of a widened project gets: the users whose events go there from now on. */
function shareTables({ projectId, shards }: Relocation, target: string): Rows {
  const position = { index: shards.indexOf(target), width: shards.length }
  const isLeaving = sql`user IN (${selectLeavers(projectId, position)})`
  const staged = MOVED_TABLES.filter(({ share }) => share !== 'none')
  return {
    copied: staged.filter(({ share }) => share !== 'counted'),
    staged,
    isCopied: ({ share }) => (share === 'users' ? isLeaving : TRUE),
  }
}

/** Finds a shard by its name. @throws UserError if the configuration does not name it */
export function requireShard(cluster: Cluster, name: string): Shard {
  const shard = findShard(cluster, name)
  if (shard !== undefined) return shard
  const names = cluster.shards.map((one) => one.name).join(', ')
  throw new UserError(`there is no shard ${name}: there are ${names}`)
}
