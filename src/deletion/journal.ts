/** The log of removals: what is being deleted, and which step that has reached. */
import type { Connection } from '../clickhouse/connection.js'
import { sql, statement, string, uint32, uint64 } from '../clickhouse/sql.js'
import { nextNumber } from '../ingest/loader/load-log.js'

/** A removal goes through these in order; after a crash it goes on from the last it reached. */
export const STEP = { started: 1, staged: 2, removed: 3, ended: 4 } as const
export type Step = (typeof STEP)[keyof typeof STEP]

/** What is to be deleted. */
export interface Target {
  readonly projectId: string
  /** The number of the user; 0: it is the whole project. */
  readonly user: number
  /** Of a whole project its public token; empty for a user. */
  readonly token: string
}

export interface Deletion extends Target {
  /** Higher than that of every load and removal before it. */
  readonly number: number
  /** The step that it has reached. */
  readonly reached: Step
}

export const isOfUser = ({ user }: Target): boolean => user !== 0

/** The removals that were begun, and of which it is still written down whom they are about; in order. */
export async function findUnfinishedDeletions(writer: Connection): Promise<readonly Deletion[]> {
  const { rows } = await writer.query<Deletion>(
    statement(sql`
SELECT
  removal AS number, max(step) AS reached,
  argMin(project_id, step) AS projectId, argMin(removals.user, step) AS user, argMin(removals.token, step) AS token
FROM removals GROUP BY removal HAVING min(step) < ${uint64(STEP.ended)} ORDER BY removal`),
  )
  return rows
}

/** Begins a removal, under the next number. */
export async function startDeletion(writer: Connection, target: Target): Promise<void> {
  const removal = { ...target, number: await nextNumber(writer), reached: STEP.started }
  await recordStep(writer, removal, STEP.started)
}

/** Writes down that a removal has reached a step. */
export async function recordStep(
  writer: Connection,
  { number, projectId, user, token }: Deletion,
  step: Step,
): Promise<void> {
  await writer.execute(
    statement(sql`
INSERT INTO removals (removal, step, project_id, user, token)
SELECT ${uint64(number)}, ${uint64(step)}, ${string(projectId)}, ${uint32(user)}, ${string(token)}`),
    { insert_deduplication_token: `removal-${number}-step-${step}` },
  )
}

/** Ends a removal. Its number is kept, and not whom it was about. */
export async function endDeletion(writer: Connection, removal: Deletion): Promise<void> {
  await recordStep(writer, { ...removal, projectId: '', user: 0, token: '' }, STEP.ended)
  await writer.execute(
    statement(sql`
DELETE FROM removals WHERE removal = ${uint64(removal.number)} AND step < ${uint64(STEP.ended)}`),
  )
}
