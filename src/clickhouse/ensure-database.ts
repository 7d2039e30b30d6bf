/** Creates the database of the service. */
import { connect } from './connection.js'
import type { Endpoint } from './endpoint.js'
import { isClickHouseError } from './errors.js'
import { identifier, sql, statement } from './sql.js'

/** Creates the database if it is missing. A connection needs a database that exists, so `system` serves for that. */
export async function ensureDatabase(endpoint: Endpoint): Promise<void> {
  const connection = connect(endpoint, 'admin')
  const systemConnection = connect({ ...endpoint, database: 'system' }, 'admin')
  try {
    await connection.query(statement(sql`SELECT 1`))
  } catch (error) {
    if (!isClickHouseError(error, 'UNKNOWN_DATABASE')) throw error
    const database = identifier(endpoint.database)
    await systemConnection.execute(statement(sql`CREATE DATABASE IF NOT EXISTS ${database}`))
  } finally {
    await Promise.all([connection.close(), systemConnection.close()])
  }
}
