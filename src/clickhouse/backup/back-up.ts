/** Writes a backup of the database. */
import { UserError } from '../../lib/errors.js'
import { connect } from '../connection.js'
import type { Endpoint } from '../endpoint.js'
import { getClickHouseReason, isClickHouseError } from '../errors.js'
import { databaseName, sql, statement, type Sql } from '../sql.js'

/**
 * Writes all tables to a new backup. ClickHouse writes the list of its files last: a backup that was interrupted has none,
 * and cannot be restored.
 *
 * @throws UserError when ClickHouse cannot write the backup
 */
export async function backUp(endpoint: Endpoint, place: Sql): Promise<void> {
  const admin = connect(endpoint, 'admin')
  try {
    await admin.query(
      statement(sql`BACKUP DATABASE ${databaseName(endpoint.database)} TO ${place}`),
    )
  } catch (error) {
    throw describeFailure(error, 'cannot write the backup')
  } finally {
    await admin.close()
  }
}

/** Turns ClickHouse's error into one for the user. ClickHouse hides the secret of S3 in its messages. */
export function describeFailure(error: unknown, what: string): unknown {
  if (isClickHouseError(error, 'BACKUP_ALREADY_EXISTS')) {
    return new UserError(`${what}: there is one at this place already`)
  }
  if (isClickHouseError(error, 'BACKUP_NOT_FOUND')) {
    return new UserError(`${what}: there is none at this place, or it was interrupted`)
  }
  const reason = getClickHouseReason(error)
  return reason === undefined ? error : new UserError(`${what}: ${reason}`)
}
