/** Reads the rows that a batch's load rejected. */
import type { Connection } from '../../clickhouse/connection.js'
import { sql, statement, string, type Sql } from '../../clickhouse/sql.js'

/** A row that was not loaded. */
export interface Rejection {
  /** Its line in the source, counted from 1. */
  readonly row: number
  readonly reason: string
  readonly line: string
}

/** The rejections of a batch; who takes them keeps them, the store does not. */
export async function takeRejections(
  writer: Connection,
  batch: string,
): Promise<readonly Rejection[]> {
  const rows = await read(
    writer,
    sql`SELECT row, reason, line FROM rejections WHERE batch = ${string(batch)} ORDER BY row`,
  )
  await writer.execute(statement(sql`ALTER TABLE rejections DROP PARTITION ${string(batch)}`))
  return rows
}

/** The rejections of rows that are read and judged, and nothing more. */
export const listRejections = (writer: Connection, table: Sql): Promise<readonly Rejection[]> =>
  read(
    writer,
    sql`SELECT row, reason, rejected_line AS line FROM ${table} WHERE fate = 'rejected' ORDER BY row`,
  )

const read = async (writer: Connection, query: Sql): Promise<readonly Rejection[]> =>
  (await writer.query<Rejection>(statement(query))).rows
