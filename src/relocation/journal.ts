/** The journal of moves, at the home: which project is being moved to which shard, and which step the move has reached. */
import type { Connection } from '../clickhouse/connection.js'
import { sql, statement, string, uint64, type Sql } from '../clickhouse/sql.js'

/**
 * A move takes these steps in order; after a crash it resumes after the last one. `switched`: the project lives on its new
 * shard, and the old one still has its data. A move that is aborted ends before it is switched.
 */
export const STEP = { started: 1, switched: 2, ended: 3 } as const
export type Step = (typeof STEP)[keyof typeof STEP]

/** A project that is being moved from one shard to another. */
export interface Move {
  /** Higher than the number of every earlier move. */
  readonly number: number
  readonly projectId: string
  /** The names of the shards. */
  readonly source: string
  readonly target: string
  /** What is added to the numbers of loads, so that no load of the target has the same. */
  readonly base: number
  /** The last number of a load that is reserved for it at the target. */
  readonly last: number
  /** The last step that was finished. */
  readonly reached: Step
}

/** Finds the move of a project that has not ended; undefined if there is none. */
export const findMove = async (
  connection: Connection,
  projectId: string,
): Promise<Move | undefined> =>
  (await listMoves(connection, sql`project_id = ${string(projectId)}`))[0]

/** Lists the moves that have not ended, in order. */
export const listUnfinishedMoves = (connection: Connection): Promise<readonly Move[]> =>
  listMoves(connection, sql`true`)

async function listMoves(connection: Connection, condition: Sql): Promise<readonly Move[]> {
  const { rows } = await connection.query<Move>(
    statement(sql`
SELECT move AS number, project_id AS projectId, source, target, base, last, step AS reached FROM moves FINAL
WHERE step < ${uint64(STEP.ended)} AND ${condition} ORDER BY number`),
  )
  return rows
}

/** Starts a move under the next number. The caller holds the lease `moves`. */
export async function startMove(
  home: Connection,
  target: Omit<Move, 'number' | 'reached'>,
): Promise<Move> {
  const { rows } = await home.query<{ last: number }>(
    statement(sql`SELECT max(move) AS last FROM moves`),
  )
  const number = (rows[0]?.last ?? 0) + 1
  return recordStep(home, { ...target, number, reached: STEP.started }, STEP.started)
}

/** Records that a move has reached a step, and returns it. May be repeated. */
export async function recordStep(home: Connection, move: Move, step: Step): Promise<Move> {
  const { number, projectId, source, target, base, last } = move
  await home.execute(
    statement(sql`
INSERT INTO moves (move, step, project_id, source, target, base, last)
SELECT ${uint64(number)}, ${uint64(step)}, ${string(projectId)}, ${string(source)}, ${string(target)}, ${uint64(base)}, ${uint64(last)}`),
    { insert_deduplicate: 0 },
  )
  return { ...move, reached: step }
}
