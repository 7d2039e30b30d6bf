/** Builds the rollups of a store if they are missing or have another definition. */
import type { Connection } from '../clickhouse/connection.js'
import { withLease } from '../clickhouse/lease/lease.js'
import { sql, statement, string } from '../clickhouse/sql.js'
import type { Store } from '../clickhouse/store.js'
import { LIVE } from '../model/rollup-table-sets.js'
import { createViews, dropLiveViews, hashDefinitions } from './materialized-views.js'
import { rebuildRollups } from './rebuild.js'
import { LEASE_TIMEOUT_MS, type MonthsOptions } from './shadow-tables.js'

/**
 * Recreates the materialized views and backfills the rollups when the stored definition hash differs from this build's.
 * Must finish before queries are served: until then the rollups are incomplete. If several processes call it at once,
 * one builds the rollups and the others wait.
 */
export async function ensureRollups(
  { admin, writer }: Pick<Store, 'admin' | 'writer'>,
  options: Pick<MonthsOptions, 'finishInterruptedWork'>,
): Promise<void> {
  if (await hasCurrentRollups(writer)) return
  await withLease(
    admin,
    'rollups',
    async (lease) => {
      // Another process may have built them while this one waited.
      if (await hasCurrentRollups(writer)) return
      await recreateViews(admin)
      await rebuildRollups(writer, options)
      // While this process was suspended, another process may have built a different definition.
      await lease.assertHeld()
      await writer.execute(
        statement(sql`INSERT INTO rollup_builds (definition) SELECT ${string(hashDefinitions())}`),
      )
    },
    // A build may take long, so the wait has no limit. The lease of a holder that dies expires.
    { waitMs: Infinity, requestsTurn: false },
  )
}

const recreateViews = (admin: Connection): Promise<void> =>
  withLease(
    admin,
    'loader',
    async () => {
      await dropLiveViews(admin)
      await createViews(admin, LIVE)
    },
    { waitMs: LEASE_TIMEOUT_MS },
  )

/** Whether the rollups were built under this build's definition. Writes nothing. */
export async function hasCurrentRollups(connection: Connection): Promise<boolean> {
  const { rows } = await connection.query<{ definition: string }>(
    statement(sql`SELECT definition FROM rollup_builds ORDER BY built_at DESC LIMIT 1`),
  )
  return rows[0]?.definition === hashDefinitions()
}
