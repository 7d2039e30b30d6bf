/** Finishes deletions that were started and interrupted. */
import type { Connection } from '../clickhouse/connection.js'
import { finishProjectDeletion } from './finish-project.js'
import { finishUserDeletion } from './finish-user.js'
import { findUnfinishedDeletions, isUserDeletion } from './journal.js'

/**
 * Finishes every deletion of the journal, in the order in which they were started. The caller holds the
 * loader lease.
 */
export async function finishDeletions(writer: Connection): Promise<void> {
  for (const deletion of await findUnfinishedDeletions(writer)) {
    if (isUserDeletion(deletion)) await finishUserDeletion(writer, deletion)
    else await finishProjectDeletion(writer, deletion)
  }
}
