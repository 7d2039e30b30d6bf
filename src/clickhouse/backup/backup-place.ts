/** Where a backup is: a folder of the store's machine, or a disk of the server, which may be on S3. */
import path from 'node:path'
import { UserError } from '../../lib/errors.js'
import { sql, string, type Sql } from '../sql.js'

export const PLACE_HELP =
  'A folder on the machine of ClickHouse, or disk:NAME/PATH for a disk of the server'

const DISK = /^disk:(?<disk>[A-Za-z0-9_]+)\/(?<path>.+)$/
const URL_START = /^[a-z0-9+.-]+:\/\//i

/**
 * Parses the place of a backup. A relative folder is resolved here, because ClickHouse has another working folder.
 *
 * @returns the place as BACKUP and RESTORE take it
 * @throws UserError for a URL: its credentials would be visible in the list of processes. The message does not repeat it.
 */
export function parsePlace(text: string): Sql {
  const disk = DISK.exec(text)?.groups
  if (disk !== undefined) {
    return sql`Disk(${string(disk['disk'] ?? '')}, ${string(disk['path'] ?? '')})`
  }
  if (URL_START.test(text) || text.startsWith('disk:')) {
    throw new UserError(
      'the place of a backup must be a folder or disk:NAME/PATH; for S3, declare a disk in the configuration of the server',
    )
  }
  return sql`File(${string(path.resolve(text))})`
}
