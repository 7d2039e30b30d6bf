/** The tables behind a lease: one a generation, in which its holder says that it is there. */
import type { Connection } from '../connection.js'
import { isClickHouseError } from '../errors.js'
import { identifier, sql, statement, string } from '../sql.js'

/** The kinds of work that one process at a time may do. */
export type LeaseName = 'migrations' | 'projects' | 'loader'

/** What a holder says in its table. */
export type LeaseState = 'held' | 'released'

export interface Generation {
  readonly number: number
  /** Milliseconds since its table was made. */
  readonly age: number
}

export interface HolderState {
  readonly released: boolean
  /** Milliseconds since the holder was heard of, by the clock of the store. */
  readonly silence: number
}

const tableOf = (name: LeaseName, number: number) => identifier(`lease_${name}_${number}`)

/** The generations that have a table, the newest first. */
export async function listGenerations(
  connection: Connection,
  name: LeaseName,
): Promise<readonly Generation[]> {
  const { rows } = await connection.query<Generation>(
    statement(sql`
      SELECT toUInt32(extract(name, '[0-9]+$')) AS number,
        dateDiff('millisecond', metadata_modification_time, now64(3)) AS age
      FROM system.tables
      WHERE database = currentDatabase() AND match(name, ${string(`^lease_${name}_[0-9]+$`)})
      ORDER BY number DESC`),
  )
  return rows
}

/** Makes the table of a generation; false when there is one already. */
export async function createGeneration(
  connection: Connection,
  name: LeaseName,
  number: number,
): Promise<boolean> {
  const create = statement(sql`
    CREATE TABLE ${tableOf(name, number)}
    (
      state Enum8('held' = 1, 'released' = 2),
      at    DateTime64(3, 'UTC')
    )
    ENGINE = ReplacingMergeTree(at)
    ORDER BY state`)
  try {
    await connection.execute(create)
    return true
  } catch (error) {
    if (isClickHouseError(error, 'TABLE_ALREADY_EXISTS')) return false
    throw error
  }
}

export async function dropGeneration(
  connection: Connection,
  name: LeaseName,
  number: number,
): Promise<void> {
  await connection.execute(statement(sql`DROP TABLE IF EXISTS ${tableOf(name, number)}`))
}

/** Writes what the holder says, with the time of the store. */
export async function writeLeaseState(
  connection: Connection,
  name: LeaseName,
  number: number,
  note: LeaseState,
): Promise<void> {
  await connection.execute(
    statement(sql`
      INSERT INTO ${tableOf(name, number)} (state, at) SELECT ${string(note)}, now64(3)`),
  )
}

/** What is known of the holder of a generation; undefined when the table is gone. */
export async function readHolderState(
  connection: Connection,
  name: LeaseName,
  { number, age }: Generation,
): Promise<HolderState | undefined> {
  try {
    const { rows } = await connection.query<{ notes: number; releases: number; quiet: number }>(
      statement(sql`
        SELECT count() AS notes, countIf(state = 'released') AS releases,
          dateDiff('millisecond', max(at), now64(3)) AS quiet
        FROM ${tableOf(name, number)}`),
    )
    const [state] = rows
    if (state === undefined) return undefined
    return { released: state.releases > 0, silence: state.notes === 0 ? age : state.quiet }
  } catch (error) {
    if (isClickHouseError(error, 'UNKNOWN_TABLE')) return undefined
    throw error
  }
}
