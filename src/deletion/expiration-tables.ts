/** The tables that an expiration computes before it deletes anything. */
import type { Connection } from '../clickhouse/connection.js'
import { identifier, type Sql } from '../clickhouse/sql.js'
import { nameTables, type RollupTables } from '../model/rollup-table-sets.js'
import { dropTableSets } from '../rollups/materialized-views.js'
import { REST_TABLES } from '../rollups/retract.js'
import type { Expiration } from './expiration-journal.js'

/** The names of the tables that only expirations have, without the prefix. */
export const EXPIRATION_TABLES = { users: 'gone_users', groups: 'gone_groups' } as const

/** The counts of what is deleted of the month, and of what its users keep of it. */
export interface ExpirationTables {
  readonly gone: RollupTables
  readonly kept: RollupTables
  /** The users without any event left in the project. */
  readonly users: Sql
  /** The groups of the month, each with the users without any event left in it. */
  readonly groups: Sql
}

export function nameExpirationTables({ number }: Expiration): ExpirationTables {
  const prefix = `removal_${number}_`
  return {
    gone: nameTables(prefix),
    kept: nameTables(`${prefix}kept_`),
    users: identifier(`${prefix}${EXPIRATION_TABLES.users}`),
    groups: identifier(`${prefix}${EXPIRATION_TABLES.groups}`),
  }
}

export async function dropExpirationTables(
  writer: Connection,
  { gone, kept }: ExpirationTables,
): Promise<void> {
  await dropTableSets(writer, kept.prefix)
  await dropTableSets(writer, gone.prefix, [...REST_TABLES, ...Object.values(EXPIRATION_TABLES)])
}
