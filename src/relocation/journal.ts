/** The journal of relocations, at the home: which project is being moved or widened, and which step that has reached. */
import type { Connection } from '../clickhouse/connection.js'
import { join, sql, statement, string, strings, uint64, type Sql } from '../clickhouse/sql.js'

/**
 * A relocation takes these steps in order; after a crash it resumes after the last one. `switched`: the project lives on its new
 * shards, and the former ones still have all its data. A relocation that is aborted ends before it is switched.
 */
export const STEP = { started: 1, switched: 2, ended: 3 } as const
export type Step = (typeof STEP)[keyof typeof STEP]

/** What goes from one shard to another. Each target has one source. */
export interface Leg {
  /** The names of the shards. */
  readonly source: string
  readonly target: string
  /** What is added to the numbers of loads, so that no load of the target has the same. */
  readonly base: number
  /** The last number of a load that is reserved for it at the target. */
  readonly last: number
}

/**
 * A project that gets other shards. It is moved from one to another with all its users, or it is widened: some users leave each
 * of its shards for new ones.
 */
export interface Relocation {
  /** Higher than the number of every earlier relocation. */
  readonly number: number
  readonly projectId: string
  /** The names of the shards that it lives on afterwards, in order: one if it is moved. */
  readonly shards: readonly string[]
  readonly legs: readonly Leg[]
  /** The last step that was finished. */
  readonly reached: Step
}

/** Whether a project is widened, not moved. */
export const isWidening = ({ shards }: Pick<Relocation, 'shards'>): boolean => shards.length > 1

/** Lists the names of the shards that the project leaves, or that users leave, in order. */
export const listSources = ({ legs }: Pick<Relocation, 'legs'>): readonly string[] => [
  ...new Set(legs.map(({ source }) => source)),
]

/** Finds the relocation of a project that has not ended; undefined if there is none. */
export const findRelocation = async (
  connection: Connection,
  projectId: string,
): Promise<Relocation | undefined> =>
  (await listRelocations(connection, sql`project_id = ${string(projectId)}`))[0]

/** Lists the relocations that have not ended, in order. */
export const listUnfinishedRelocations = (connection: Connection): Promise<readonly Relocation[]> =>
  listRelocations(connection, sql`true`)

async function listRelocations(
  connection: Connection,
  condition: Sql,
): Promise<readonly Relocation[]> {
  const { rows } = await connection.query<Relocation>(
    statement(sql`
SELECT
  move AS number, project_id AS projectId, step AS reached, shards, legs
FROM moves FINAL
WHERE step < ${uint64(STEP.ended)} AND ${condition} ORDER BY number`),
  )
  return rows
}

/** Starts a relocation under the next number. The caller holds the lease `moves`. */
export async function startRelocation(
  home: Connection,
  relocation: Omit<Relocation, 'number' | 'reached'>,
): Promise<Relocation> {
  const { rows } = await home.query<{ last: number }>(
    statement(sql`SELECT max(move) AS last FROM moves`),
  )
  const number = (rows[0]?.last ?? 0) + 1
  return recordStep(home, { ...relocation, number, reached: STEP.started }, STEP.started)
}

/** Records that a relocation has reached a step, and returns it. May be repeated. */
export async function recordStep(
  home: Connection,
  relocation: Relocation,
  step: Step,
): Promise<Relocation> {
  const { number, projectId, shards, legs } = relocation
  const tuples = legs.map(
    ({ source, target, base, last }) =>
      sql`(${string(source)}, ${string(target)}, ${uint64(base)}, ${uint64(last)})`,
  )
  await home.execute(
    statement(sql`
INSERT INTO moves (move, step, project_id, shards, legs)
SELECT ${uint64(number)}, ${uint64(step)}, ${string(projectId)}, ${strings(shards)}, [${join(tuples)}]`),
    { insert_deduplicate: 0 },
  )
  return { ...relocation, reached: step }
}
