/** Leases of a store on one server: a table per generation, in which the holder records its heartbeats. */
import type { Connection } from '../connection.js'
import { isClickHouseError } from '../errors.js'
import { identifier, join, sql, statement, string, uint32 } from '../sql.js'
import {
  GenerationLostError,
  HOLDER,
  type Generation,
  type HolderState,
  type LeaseName,
  type LeaseState,
  type LeaseStore,
} from './lease-types.js'

const getGenerationTable = (name: LeaseName, number: number) =>
  identifier(`lease_${name}_${number}`)

/** A name that `listGenerations` does not list. */
const getRequestTable = (name: LeaseName, number: number): string =>
  `lease_${name}_${number}_wanted`

async function listGenerations(
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

async function createGeneration(
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

async function dropGeneration(
  connection: Connection,
  name: LeaseName,
  number: number,
): Promise<void> {
  await connection.execute(statement(sql`DROP TABLE IF EXISTS ${getGenerationTable(name, number)}`))
}

async function writeLeaseState(
  connection: Connection,
  name: LeaseName,
  number: number,
  state: LeaseState,
): Promise<void> {
  try {
    await connection.execute(
      statement(sql`
      INSERT INTO ${getGenerationTable(name, number)} (state, at) SELECT ${string(state)}, now64(3)`),
    )
  } catch (error) {
    // The process that takes over the lease drops the table of the previous holder.
    throw isClickHouseError(error, 'UNKNOWN_TABLE') ? new GenerationLostError() : error
  }
}

async function readHolderState(
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

/** The request is a table without rows, which cannot be mistaken for a heartbeat. */
async function requestRelease(
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

async function isReleaseRequested(
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

async function dropReleaseRequests(
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

export const LEASE_TABLES: LeaseStore = {
  listGenerations,
  createGeneration,
  dropGeneration,
  writeLeaseState,
  readHolderState,
  requestRelease,
  isReleaseRequested,
  dropReleaseRequests,
}
