/** Sees to it that the rollups are there, and hold all there is. */
import type { Connection } from '../clickhouse/connection.js'
import { withLease } from '../clickhouse/lease/lease.js'
import { sql, statement, string } from '../clickhouse/sql.js'
import type { Store } from '../clickhouse/store.js'
import { createViews, dropViews, hashDefinitions } from './materialized-views.js'
import { rebuildRollups } from './rebuild.js'
import { LEASE_TIMEOUT_MS, type MonthsOptions } from './shadow-tables.js'
import { LIVE } from '../model/rollup-tables.js'

/**
 * Makes the views that fill the rollups and computes what is there already, where that was not done under
 * the definition of today. Until then nothing must be asked: the rollups would not say all.
 */
export async function ensureRollups(
  { admin, writer }: Store,
  options: Pick<MonthsOptions, 'finishInterruptedWork'>,
): Promise<void> {
  if (await hasCurrentRollups(writer)) return
  await withLease(
    admin,
    'loader',
    async () => {
      await dropViews(admin, LIVE)
      await createViews(admin, LIVE)
    },
    { waitMs: LEASE_TIMEOUT_MS },
  )
  await rebuildRollups(writer, options)
  await writer.execute(
    statement(sql`INSERT INTO rollup_builds (definition) SELECT ${string(hashDefinitions())}`),
  )
}

/** Whether the rollups were built under the definition of this build; only reads. */
export async function hasCurrentRollups(connection: Connection): Promise<boolean> {
  const { rows } = await connection.query<{ definition: string }>(
    statement(sql`SELECT definition FROM rollup_builds ORDER BY built_at DESC LIMIT 1`),
  )
  return rows[0]?.definition === hashDefinitions()
}
