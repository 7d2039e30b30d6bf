/** Reads the rows that loads rejected. */
import type { Connection } from '../../clickhouse/connection.js'
import { sql, statement, string, type Sql } from '../../clickhouse/sql.js'

/** A rejected row. */
export interface Rejection {
  /** Its line in the source, counted from 1. */
  readonly row: number
  readonly reason: string
  readonly line: string
}

/** Reads the rejections of a batch and deletes them from the store; from then on only the caller has them. */
export async function takeRejections(
  writer: Connection,
  batch: string,
): Promise<readonly Rejection[]> {
  const rows = await selectRejections(
    writer,
    sql`SELECT row, reason, line FROM rejections WHERE batch = ${string(batch)} ORDER BY row`,
  )
  await writer.execute(statement(sql`ALTER TABLE rejections DROP PARTITION ${string(batch)}`))
  return rows
}

/** Reads the rejections of a dry run from its table of parsed rows. */
export const listRejections = (writer: Connection, table: Sql): Promise<readonly Rejection[]> =>
  selectRejections(
    writer,
    sql`SELECT row, reason, rejected_line AS line FROM ${table} WHERE fate = 'rejected' ORDER BY row`,
  )

const selectRejections = async (writer: Connection, query: Sql): Promise<readonly Rejection[]> =>
  (await writer.query<Rejection>(statement(query))).rows
