/** The journal of expirations: which project's data is being deleted before which day, and how far. */
import type { Connection } from '../clickhouse/connection.js'
import { sql, statement, string, uint64 } from '../clickhouse/sql.js'
import { readNextNumber } from '../ingest/loader/load-log.js'
import { recordStep as recordDeletionStep, STEP, type Step } from './journal.js'

export interface Expiration {
  /** Higher than the number of every earlier load, deletion and expiration. */
  readonly number: number
  readonly projectId: string
  /** The first day that is kept, such as 2026-01-31. */
  readonly keptFrom: string
  /** The last step that was finished. */
  readonly reached: Step
  /** Milliseconds since then, by the clock of the store. */
  readonly age: number
}

/** Finds the expirations whose project is still recorded, in the order of their numbers. */
export async function findUnfinishedExpirations(
  writer: Connection,
): Promise<readonly Expiration[]> {
  const { rows } = await writer.query<Expiration>(
    statement(sql`
SELECT
  expiration AS number, max(step) AS reached, dateDiff('millisecond', argMax(at, step), now64(3)) AS age,
  argMin(project_id, step) AS projectId, toString(argMin(kept_from, step)) AS keptFrom
FROM expirations GROUP BY expiration HAVING min(step) < ${uint64(STEP.ended)} ORDER BY expiration`),
  )
  return rows
}

/** Starts an expiration under the next number. */
export async function startExpiration(
  writer: Connection,
  { projectId, keptFrom }: Pick<Expiration, 'projectId' | 'keptFrom'>,
): Promise<Expiration> {
  const number = await readNextNumber(writer)
  // Deletions and loads number themselves after this one, because it is in the journal of deletions, as ended.
  await recordDeletionStep(
    writer,
    { number, projectId: '', users: [], token: '', reached: STEP.ended },
    STEP.ended,
  )
  const started = { number, projectId, keptFrom }
  await recordStep(writer, started, STEP.started)
  return { ...started, reached: STEP.started, age: 0 }
}

/**
 * Replaces an expiration by one with the next number, if anything was numbered since it started. An expiration deletes only what loads with
 * lower numbers have stored.
 */
export async function renewExpiration(
  writer: Connection,
  expiration: Expiration,
): Promise<Expiration> {
  if ((await readNextNumber(writer)) === expiration.number + 1) return expiration
  const renewed = await startExpiration(writer, expiration)
  await endExpiration(writer, expiration)
  return renewed
}

/** Records that an expiration has reached a step. */
export async function recordStep(
  writer: Connection,
  { number, projectId, keptFrom }: Omit<Expiration, 'reached' | 'age'>,
  step: Step,
): Promise<void> {
  await writer.execute(
    statement(sql`
INSERT INTO expirations (expiration, step, project_id, kept_from)
SELECT ${uint64(number)}, ${uint64(step)}, ${string(projectId)}, toDate(${string(keptFrom)})`),
    { insert_deduplication_token: `expiration-${number}-step-${step}` },
  )
}

/** Ends an expiration. The journal keeps its number and forgets its project. */
export async function endExpiration(writer: Connection, expiration: Expiration): Promise<void> {
  await recordStep(writer, { ...expiration, projectId: '' }, STEP.ended)
  await writer.execute(
    statement(sql`
DELETE FROM expirations WHERE expiration = ${uint64(expiration.number)} AND step < ${uint64(STEP.ended)}`),
  )
}
