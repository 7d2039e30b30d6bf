/** What one shard gets from another when a project is relocated. */
import { sql, TRUE, type Sql } from '../../clickhouse/sql.js'
import type { Shard } from '../../cluster/cluster.js'
import { selectLeavers, type Position } from './departures.js'
import type { KnownDigests } from './digests.js'
import { MOVED_TABLES, type MovedTable } from './moved-tables.js'

/** The rows that one shard gets from another. */
export interface Transfer extends TransferredRows {
  /** The number of the relocation. */
  readonly number: number
  readonly projectId: string
  readonly source: Shard
  readonly target: Shard
  /** What is added to the numbers of loads, so that no load of the target has the same. */
  readonly base: number
  /** The last number of a load that is reserved for it at the target. */
  readonly last: number
  /** The digests that are known of rows of this project. */
  readonly known: KnownDigests
}

interface TransferredRows {
  /** The tables whose rows are copied. */
  readonly copied: readonly MovedTable[]
  /** The tables that are staged: those, and what the target counts. */
  readonly staged: readonly MovedTable[]
  /** Builds the condition that a row of the project at the source is copied. */
  readonly isCopied: (moved: MovedTable) => Sql
}

/** What goes to the new shard of a project that is moved. */
export const ALL_ROWS: TransferredRows = {
  copied: MOVED_TABLES,
  staged: MOVED_TABLES,
  isCopied: () => TRUE,
}

/** What goes to a new shard of a project that is widened: the rows of the users whose events go there from now on. */
export function shareRows(projectId: string, target: Position): TransferredRows {
  const isLeaving = sql`user IN (${selectLeavers(projectId, target)})`
  const staged = MOVED_TABLES.filter(({ share }) => share !== 'none')
  return {
    copied: staged.filter(({ share }) => share !== 'counted'),
    staged,
    isCopied: ({ share }) => (share === 'users' ? isLeaving : TRUE),
  }
}
