/** The tables behind a lease: one per generation, in which the holder records its heartbeats. */
import { hostname } from 'node:os'
import type { Connection } from '../connection.js'
import { isClickHouseError } from '../errors.js'
import { identifier, join, sql, statement, string, uint32 } from '../sql.js'

/** The kinds of work that only one process at a time may do on a store. */
export type LeaseName =
  'migrations' | 'projects' | 'loader' | 'rollups' | 'salts' | 'moves' | 'operations' | 'imports'

/** The states that a holder writes into its table. */
type LeaseState = 'held' | 'released'

export interface Generation {
  readonly number: number
  /** Milliseconds since its table was created. */
  readonly age: number
}

interface HolderState {
  readonly isReleased: boolean
  /** Milliseconds since the last heartbeat, by the clock of the store. */
  readonly silence: number
  /** The process and its host; undefined before the first heartbeat. */
  readonly name: string | undefined
}

/** This process, as a person can find it. */
const HOLDER = `process ${process.pid} on ${hostname()}`

const getGenerationTable = (name: LeaseName, number: number) =>
  identifier(`lease_${name}_${number}`)

/** A name that `listGenerations` does not list. */
const getRequestTable = (name: LeaseName, number: number): string =>
  `lease_${name}_${number}_wanted`

/** Lists the generations that have a table, the newest first. */
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

/** Creates the table of a generation; returns false when it exists already. */
export async function createGeneration(
  connection: Connection,
  name: LeaseName,
  number: number,
): Promise<boolean> {
  const create = statement(sql`
    CREATE TABLE ${getGenerationTable(name, number)}
    (
      state  Enum8('held' = 1, 'released' = 2),
      at     DateTime64(3, 'UTC'),
      holder String DEFAULT ${string(HOLDER)}
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

/** Drops the table of a generation, if it exists. */
export async function dropGeneration(
  connection: Connection,
  name: LeaseName,
  number: number,
): Promise<void> {
  await connection.execute(statement(sql`DROP TABLE IF EXISTS ${getGenerationTable(name, number)}`))
}

/** Writes the holder's state, with the current time by the clock of the store. */
export async function writeLeaseState(
  connection: Connection,
  name: LeaseName,
  number: number,
  state: LeaseState,
): Promise<void> {
  await connection.execute(
    statement(sql`
      INSERT INTO ${getGenerationTable(name, number)} (state, at) SELECT ${string(state)}, now64(3)`),
  )
}

/** Reads the state of a generation's holder; undefined when its table was dropped. */
export async function readHolderState(
  connection: Connection,
  name: LeaseName,
  { number, age }: Generation,
): Promise<HolderState | undefined> {
  try {
    const { rows } = await connection.query<{
      notes: number
      releases: number
      quiet: number
      holder: string
    }>(
      statement(sql`
        SELECT count() AS notes, countIf(state = 'released') AS releases,
          dateDiff('millisecond', max(at), now64(3)) AS quiet, any(holder) AS holder
        FROM ${getGenerationTable(name, number)}`),
    )
    const [state] = rows
    if (state === undefined) return undefined
    const isNew = state.notes === 0
    return {
      isReleased: state.releases > 0,
      silence: isNew ? age : state.quiet,
      name: isNew ? undefined : state.holder,
    }
  } catch (error) {
    if (isClickHouseError(error, 'UNKNOWN_TABLE')) return undefined
    throw error
  }
}

/**
 * Asks the holder of a generation to release the lease soon. The request is a table without rows, which cannot
 * be mistaken for a heartbeat. It stays until another process takes the next generation.
 */
export async function requestRelease(
  connection: Connection,
  name: LeaseName,
  number: number,
): Promise<void> {
  await connection.execute(
    statement(sql`
      CREATE TABLE IF NOT EXISTS ${identifier(getRequestTable(name, number))} (at DateTime64(3, 'UTC'))
      ENGINE = Null`),
  )
}

/** Returns whether anyone has asked the holder of a generation to release the lease. */
export async function isReleaseRequested(
  connection: Connection,
  name: LeaseName,
  number: number,
): Promise<boolean> {
  const { rows } = await connection.query(
    statement(sql`
      SELECT name FROM system.tables
      WHERE database = currentDatabase() AND name = ${string(getRequestTable(name, number))}`),
  )
  return rows.length > 0
}

/** Drops the requests to the holders of generations before `number`. */
export async function dropReleaseRequests(
  connection: Connection,
  name: LeaseName,
  number: number,
): Promise<void> {
  const { rows } = await connection.query<{ name: string }>(
    statement(sql`
      SELECT name FROM system.tables
      WHERE database = currentDatabase() AND match(name, ${string(`^lease_${name}_[0-9]+_wanted$`)})
        AND toUInt32OrZero(extract(name, '[0-9]+')) < ${uint32(number)}`),
  )
  if (rows.length === 0) return
  const tables = join(rows.map((row) => identifier(row.name)))
  await connection.execute(statement(sql`DROP TABLE IF EXISTS ${tables}`))
}
