/** Knows which replica has the tables of a deletion: plain ones, which are not replicated. */
import type { Connection } from '../connection.js'
import { readKeeperRows, writeKeeper, writeKeeperRow } from '../lease/keeper-rows.js'
import { sql, string } from '../sql.js'

export interface StagedTables {
  /** Records that the tables are complete. */
  readonly record: () => Promise<void>
  /** Returns whether the active replica has complete tables: another one may have been active when they were made. */
  readonly areHere: () => Promise<boolean>
  /** Forgets the tables, which are about to be dropped. */
  readonly forget: () => Promise<void>
}

/** Those of a store on one server, which always has them. Nothing is asked. */
const OF_ONE_SERVER: StagedTables = {
  record: () => Promise.resolve(),
  areHere: () => Promise.resolve(true),
  forget: () => Promise.resolve(),
}

/** @param number that of the deletion or expiration, which no other one has */
export function findStagedTables(writer: Connection, number: number): StagedTables {
  if (writer.replica === undefined) return OF_ONE_SERVER
  // Looked up before the tables are made: another replica may be active when they are complete.
  const { name } = writer.replica
  const key = string(`staged/${number}`)
  return {
    record: () => writeKeeperRow(writer, key, name),
    areHere: async () => {
      const rows = await readKeeperRows<{ state: string }>(
        writer,
        sql`SELECT state FROM leases WHERE key = ${key}`,
      )
      return rows[0]?.state === name
    },
    forget: () => writeKeeper(writer, sql`ALTER TABLE leases DELETE WHERE key = ${key}`),
  }
}
