/** The journal of deletions: what is being deleted, and which step each deletion has reached. */
import type { Connection } from '../clickhouse/connection.js'
import { sql, statement, string, uint32, uint32s, uint64 } from '../clickhouse/sql.js'
import { readNextNumber } from '../ingest/loader/load-log.js'

/**
 * A deletion takes these steps in order; after a crash it resumes after the last one it reached. `staged` means for
 * users that what will change is computed, and for a project that its API keys ended.
 */
export const STEP = { started: 1, staged: 2, deleted: 3, ended: 4 } as const
export type Step = (typeof STEP)[keyof typeof STEP]

/** Users or a project to delete. */
interface DeletionTarget {
  readonly projectId: string
  /** The numbers of the users; none for the whole project. */
  readonly users: readonly number[]
  /** The public token of the project to delete; empty for users. */
  readonly token: string
}

export interface Deletion extends DeletionTarget {
  /** Higher than the number of every earlier load and deletion. */
  readonly number: number
  /** The last step that was finished. */
  readonly reached: Step
  /** Milliseconds since then, by the clock of the store. */
  readonly age: number
}

export const isUserDeletion = ({ users }: DeletionTarget): boolean => users.length > 0

/**
 * Finds the deletions whose target is still recorded, in the order of their numbers. A deletion that recorded its last
 * step is included if a crash left the rows that name its target.
 */
export async function findUnfinishedDeletions(writer: Connection): Promise<readonly Deletion[]> {
  const { rows } = await writer.query<Deletion>(
    statement(sql`
SELECT
  removal AS number, max(step) AS reached,
  dateDiff('millisecond', argMax(at, step), now64(3)) AS age,
  argMin(project_id, step) AS projectId, argMin(project_token, step) AS token,
  argMin(if(empty(removals.users) AND user != 0, [user], removals.users), step) AS users
FROM removals GROUP BY removal HAVING min(step) < ${uint64(STEP.ended)} ORDER BY removal`),
  )
  return rows
}

/** Starts a deletion under the next number. */
export async function startDeletion(writer: Connection, target: DeletionTarget): Promise<Deletion> {
  const number = await readNextNumber(writer)
  const deletion = { ...target, number, reached: STEP.started, age: 0 }
  await recordStep(writer, deletion, STEP.started)
  return deletion
}

/** Records that a deletion has reached a step. */
export async function recordStep(
  writer: Connection,
  { number, projectId, users, token }: Omit<Deletion, 'age'>,
  step: Step,
): Promise<void> {
  // 0.1.0 knows this column alone, and takes a 0 for a whole project.
  const [first = 0] = users
  await writer.execute(
    statement(sql`
INSERT INTO removals (removal, step, project_id, user, users, project_token)
SELECT ${uint64(number)}, ${uint64(step)}, ${string(projectId)}, ${uint32(first)}, ${uint32s(users)}, ${string(token)}`),
    { insert_deduplication_token: `removal-${number}-step-${step}` },
  )
}

/** Ends a deletion. The journal keeps its number and forgets its target. */
export async function endDeletion(writer: Connection, deletion: Deletion): Promise<void> {
  await recordStep(writer, { ...deletion, projectId: '', users: [], token: '' }, STEP.ended)
  await writer.execute(
    statement(sql`
DELETE FROM removals WHERE removal = ${uint64(deletion.number)} AND step < ${uint64(STEP.ended)}`),
  )
}
