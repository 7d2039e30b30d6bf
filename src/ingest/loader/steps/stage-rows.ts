/** Stages rows of the inbox: computes their events, users and sessions into tables that no query reads. */
import type { Connection } from '../../../clickhouse/connection.js'
import { sql, statement, type Sql } from '../../../clickhouse/sql.js'
import type { ShareSalts } from '../../../cluster/salts.js'
import type { Geoip } from '../../enrichment/geoip.js'
import { saltDays } from './users/derived-users.js'
import { enrichRows } from './enrich.js'
import { findExcludedEvents } from './excluded-events.js'
import { dropLoadTables, type LoadTables } from './shared/load-tables.js'
import { findNearbySessions } from './nearby-sessions.js'
import { parseRows } from './parse-rows.js'
import { findNightEvents } from './users/night-events.js'
import type { LoadedShardName } from './residence.js'
import { buildSessions, cutRuns, findPreviousStates, moveEvents } from './sessions.js'
import { findUnnumberedRows } from './users/user-numbers.js'
import { keepRows, numberUsers } from './users/keep-rows.js'

interface StageOptions {
  /** The FROM clause, with its conditions, that selects the rows. */
  readonly rows: Sql
  /** The number of the load. */
  readonly load: number
  readonly context: {
    /** Undefined without a GeoIP database. */
    readonly geoip: Geoip | undefined
    /** The age limit for events of the stream. */
    readonly maxEventAgeDays: number
    /** Gives the salts of days from the home of a cluster. */
    readonly shareSalts?: ShareSalts | undefined
    /** The shard of a cluster. */
    readonly shard?: LoadedShardName | undefined
  }
  /** Whether nothing will be published; days then get no salts, because salts are stored for good. */
  readonly isDryRun?: boolean
  /** Is called when the rows are parsed and validated. Staging ends there if it returns true. */
  readonly isRefused?: () => Promise<boolean>
  /** Is called when they are not refused, perhaps again with some rows fewer. */
  readonly onAccepted?: () => Promise<unknown>
}

/**
 * Stages rows. Rows of new users of a project that has no number left for them are rejected: then the others are staged once
 * more without them.
 *
 * @returns whether the rows are staged: false if they were refused
 */
export async function stageRows(
  writer: Connection,
  tables: LoadTables,
  options: StageOptions,
): Promise<boolean> {
  const { rows, context, isRefused, onAccepted } = options
  const isUnnumbered = sql`seq IN (SELECT seq FROM ${tables.unnumbered})`
  for (let condition: Sql | undefined; ; condition = isUnnumbered) {
    await writer.execute(statement(parseRows(tables, rows, context, condition)))
    if ((await isRefused?.()) === true) return false
    await onAccepted?.()
    if (await stageParsedRows(writer, tables, options)) return true
    await dropLoadTables(writer, tables, 'unnumbered')
  }
}

/** Stages the parsed rows; returns false as soon as it finds that some users get no number. */
async function stageParsedRows(
  writer: Connection,
  tables: LoadTables,
  { load, context, isDryRun = false }: StageOptions,
): Promise<boolean> {
  const execute = async (...steps: readonly Sql[]): Promise<void> => {
    for (const step of steps) await writer.execute(statement(step))
  }
  await enrichRows(writer, tables, context.geoip)
  await execute(findExcludedEvents(tables))
  if (!isDryRun) await saltDays(writer, tables, context.shareSalts)
  const hasNights = await findNightEvents(writer, tables, context.shareSalts)
  await execute(keepRows(tables, hasNights), numberUsers(tables, load))
  if (await findUnnumberedRows(writer, tables)) return false
  await execute(
    findNearbySessions(tables),
    cutRuns(tables),
    buildSessions(tables, load),
    findPreviousStates(tables),
    moveEvents(tables, load),
  )
  return true
}
