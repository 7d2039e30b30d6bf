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

/**
 * Reads the rejections of a batch and deletes them from the store; from then on only the caller has them. The store has
 * no text of these rows, because any format may put IP addresses into them.
 */
export async function takeRejections(
  writer: Connection,
  batch: string,
): Promise<readonly Omit<Rejection, 'line'>[]> {
  const { rows } = await writer.query<Omit<Rejection, 'line'>>(
    statement(sql`SELECT row, reason FROM rejections WHERE batch = ${string(batch)} ORDER BY row`),
  )
  await writer.execute(statement(sql`ALTER TABLE rejections DROP PARTITION ${string(batch)}`))
  return rows
}

/** Reads the rejections of a dry run from its table of parsed rows. */
export const listRejections = async (
  writer: Connection,
  table: Sql,
): Promise<readonly Rejection[]> =>
  (
    await writer.query<Rejection>(
      statement(
        sql`SELECT row, reason, rejected_line AS line FROM ${table} WHERE fate = 'rejected' ORDER BY row`,
      ),
    )
  ).rows
