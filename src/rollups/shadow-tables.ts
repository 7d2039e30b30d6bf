/** The shadow tables that exist: who needs them, when they are merged, and when they are dropped. */
import type { Connection } from '../clickhouse/connection.js'
import { readLeaseStatus } from '../clickhouse/lease/lease-status.js'
import { sql, statement, string, uint32 } from '../clickhouse/sql.js'
import { isView, matchNames } from '../clickhouse/temporary-tables.js'
import {
  CHANGE_TABLES,
  SET_TABLES,
  SHADOW_ONLY_TABLES,
  SHADOW_PREFIX,
  STORED_TABLES,
  type ShadowTables,
} from '../model/rollup-table-sets.js'
import { dropTableSets } from './materialized-views.js'
import { CHANGE_VIEWS } from './snapshot.js'

/** The shadow tables of all rebuilds and checks, without the views between them. */
export const SHADOW_TABLES = matchNames(SHADOW_PREFIX, [...SET_TABLES, ...SHADOW_ONLY_TABLES])

/**
 * Drops the shadow tables that nobody may use any more. Every process that changes facts calls this first, under the loader
 * lease: a rebuild that was suspended could otherwise swap in what it computed before the change.
 *
 * Tables of a living process stay if they record the changes, and if they are only compared. A view that records into a
 * table that is gone would let every load fail.
 */
export async function dropShadowTables(writer: Connection): Promise<void> {
  const sets = await listSets(writer)
  if (sets.length === 0) return
  const { state } = await readLeaseStatus(writer, 'rollups')
  for (const set of sets) {
    if (set.isSafe === 0 || state !== 'held') await dropSet(writer, set)
  }
}

/** Drops all shadow tables. The caller holds both leases, so no other process may use any. */
export async function dropAllShadowTables(writer: Connection): Promise<void> {
  for (const set of await listSets(writer)) await dropSet(writer, set)
  await dropShadowSet(writer, SHADOW_PREFIX)
}

/**
 * A statement of a killed process may go on for minutes. It is waited for only if it may be the one that swaps a table in:
 * of a safe set no table is swapped in any more, once its views are gone.
 */
const dropSet = (writer: Connection, { prefix, isSafe }: ShadowSet): Promise<void> =>
  dropShadowSet(writer, prefix, isSafe === 0)

/** Drops the shadow tables with a prefix, and their views. @param waits whether to wait for statements that use them */
export const dropShadowSet = (writer: Connection, prefix: string, waits = true): Promise<void> =>
  dropTableSets(writer, prefix, SHADOW_ONLY_TABLES, waits)

/** Merges the parts of each shadow table: they will be read for a long time, and fewer parts are read faster. */
export async function mergeShadowTables(
  writer: Connection,
  { rollups }: ShadowTables,
): Promise<void> {
  for (const rollup of Object.values(rollups)) {
    const { rows } = await writer.query<{ parts: number }>(
      statement(sql`SELECT uniqExact(_part) AS parts FROM ${rollup}`),
    )
    if ((rows[0]?.parts ?? 0) < 2) continue
    await writer.execute(statement(sql`OPTIMIZE TABLE ${rollup} FINAL`))
  }
}

interface ShadowSet {
  readonly prefix: string
  /** Whether its tables do no harm after later changes of the facts. */
  readonly isSafe: 0 | 1
}

async function listSets(writer: Connection): Promise<readonly ShadowSet[]> {
  const views = matchNames(SHADOW_PREFIX, CHANGE_VIEWS)
  const records = matchNames(SHADOW_PREFIX, CHANGE_TABLES)
  const stored = matchNames(SHADOW_PREFIX, STORED_TABLES)
  const { rows } = await writer.query<ShadowSet>(
    statement(sql`
SELECT
  extract(name, ${string(`^${SHADOW_PREFIX}`)}) AS prefix,
  countIf(${isView(views, SHADOW_TABLES)}) = ${uint32(CHANGE_VIEWS.length)}
    AND countIf(match(name, ${string(records.pattern)})) = ${uint32(CHANGE_TABLES.length)}
    OR countIf(match(name, ${string(stored.pattern)})) > 0 AS isSafe
FROM system.tables
WHERE database = currentDatabase()
  AND (match(name, ${string(SHADOW_TABLES.pattern)}) OR ${isView(views, SHADOW_TABLES)})
GROUP BY prefix ORDER BY prefix`),
  )
  return rows
}
