/** The tables that a load computes its results in. Only the load itself reads them. */
import type { Connection } from '../../../../clickhouse/connection.js'
import { withFilters } from '../../../../clickhouse/connection-wrappers.js'
import { createLike } from '../../../../clickhouse/replicas/create-like.js'
import {
  identifier,
  join,
  numberedName,
  sql,
  statement,
  uint64,
  type Sql,
} from '../../../../clickhouse/sql.js'
import {
  listTemporaryTables,
  matchNames,
  type TableNames,
} from '../../../../clickhouse/temporary-tables.js'
import { settleAll } from '../../../../lib/settle.js'
import { ATTRIBUTES, OWN_COLUMNS, SESSION_COLUMNS } from '../../../../model/fact-columns.js'

/** The attributes of the session that a replaced state became. */
const NEW_ATTRIBUTES = ATTRIBUTES.map((column) => sql`new_${column}`)

/**
 * The tables that are read once the log says that the load is staged. They are permanent, and each load has a partition of its
 * own: the tables are there wherever another process finishes the load. The steps that fill them document their columns. A dry run
 * has tables of its own, with these names behind its prefix.
 */
const STAGED = {
  rows: {
    name: 'rows',
    table: sql`loading_rows`,
    columns: sql`
seq, row, project_id, event_key, timestamp, user_id, session_id, ip, user_agent, referrer_key, click_id,
${join([...OWN_COLUMNS, ...ATTRIBUTES])}, fate, reason, rejected_line, rejection, received_on`,
  },
  excludedEvents: {
    name: 'exclusions',
    table: sql`loading_exclusions`,
    columns: sql`seq, project_id, day, reason`,
  },
  kept: {
    name: 'kept',
    table: sql`loading_kept`,
    columns: sql`seq, project_id, timestamp, session_id, user_id, user_key`,
  },
  users: {
    name: 'users',
    table: sql`loading_users`,
    columns: sql`project_id, user_key, user_id, is_new, number, user, load`,
  },
  runs: {
    name: 'items',
    table: sql`loading_items`,
    columns: sql`seq, project_id, user, session_id, is_new, session, load, opens, run`,
  },
  sessions: {
    name: 'sessions',
    table: sql`loading_sessions`,
    columns: sql`${join(SESSION_COLUMNS)}, run`,
  },
  previousStates: {
    name: 'past',
    table: sql`loading_past`,
    columns: sql`${join([...SESSION_COLUMNS, ...NEW_ATTRIBUTES])}, new_session, is_moved`,
  },
  movedEvents: {
    name: 'moved',
    table: sql`loading_moved`,
    columns: sql`
project_id, timestamp, user, session, load, past_session, ${join([...OWN_COLUMNS, ...ATTRIBUTES])}`,
  },
} as const

type StagedTable = keyof typeof STAGED
const STAGED_TABLES = Object.keys(STAGED) as readonly StagedTable[]

/** The suffixes of the other tables, which a load creates. They are not read once the load is staged, or are filled again. */
const TEMPORARY = {
  places: 'places',
  nights: 'nights',
  unnumbered: 'full',
  nearbySessions: 'near',
  staleRollupUsers: 'lost',
  restoredSessions: 'restored',
} as const
type TemporaryTable = keyof typeof TEMPORARY
const TEMPORARY_TABLES = Object.keys(TEMPORARY) as readonly TemporaryTable[]

/** The suffixes of the tables of version 0.1.0, which created all of them for each load. */
const FORMER: Readonly<Record<StagedTable, string>> = {
  rows: 'rows',
  excludedEvents: 'untracked',
  kept: 'kept',
  users: 'users',
  runs: 'items',
  sessions: 'sessions',
  previousStates: 'past',
  movedEvents: 'moved',
}

/** What each table is read as: its name. Connections of `seeOwnRows` see the rows of the load only. */
export interface LoadTables extends Readonly<Record<StagedTable | TemporaryTable, Sql>> {
  /** The number of the load. */
  readonly load: number
  /** The names of the tables that have partitions. */
  readonly staged: Readonly<Record<StagedTable, Sql>>
}

/** Matches the names of the tables that a load or a dry run creates. The prefix is a regular expression. */
export const matchLoadTables = (prefix: string, others: readonly string[] = []): TableNames =>
  matchNames(prefix, [
    ...new Set([
      ...Object.values(FORMER),
      ...STAGED_TABLES.map((table) => STAGED[table].name),
      ...Object.values(TEMPORARY),
      ...others,
    ]),
  ])

/** The names of the tables that loads create. */
export const LOAD_TABLES = matchLoadTables('load_[0-9]+_')

/**
 * Names the tables of a load. The names and partitions contain its number: a loader that pauses until its lease expires finds
 * nothing in them, and never touches those of the next load.
 */
export const nameLoadTables = (load: number): LoadTables => ({
  ...nameTables(`load_${load}_`, load, LIVE_STAGED),
  // ATTACH PARTITION does not accept a query parameter as the name of its source.
  restoredSessions: numberedName('load', load, TEMPORARY.restoredSessions),
})

/**
 * Names the tables of a load, or of a dry run.
 *
 * @param prefix that of the tables that are created
 */
const nameTables = (prefix: string, load: number, staged: LoadTables['staged']): LoadTables => ({
  load,
  staged,
  ...staged,
  ...(Object.fromEntries(
    Object.entries(TEMPORARY).map(([table, suffix]) => [table, identifier(`${prefix}${suffix}`)]),
  ) as Record<TemporaryTable, Sql>),
})

const mapStaged = (map: (table: StagedTable) => Sql): Record<StagedTable, Sql> =>
  Object.fromEntries(STAGED_TABLES.map((table) => [table, map(table)])) as Record<StagedTable, Sql>

const LIVE_STAGED = mapStaged((table) => STAGED[table].table)

/**
 * Creates tables that only a dry run uses: copies of the permanent ones.
 *
 * @param prefix that of the names of all tables of the dry run
 */
export async function createTrialTables(
  writer: Connection,
  prefix: string,
  load: number,
): Promise<LoadTables> {
  const staged = mapStaged((table) => identifier(`${prefix}${STAGED[table].name}`))
  for (const table of STAGED_TABLES) {
    await createLike(writer, staged[table], LIVE_STAGED[table])
  }
  return nameTables(prefix, load, staged)
}

/**
 * Returns a connection that sees only the rows of one load. Others are there if a suspended loader has staged them after its load
 * was abandoned. A condition in each statement would cost a tenth of the CPU time of a small load.
 */
export const seeOwnRows = (writer: Connection, { load }: LoadTables): Connection =>
  withFilters(
    writer,
    Object.fromEntries(
      STAGED_TABLES.map((table) => [`loading_${STAGED[table].name}`, `staged_load = ${load}`]),
    ),
  )

/** Builds the statement that puts the rows of a query, with columns of these names, into a staged table of a load. */
export function insertStaged({ staged, load }: LoadTables, table: StagedTable, select: Sql): Sql {
  const { columns } = STAGED[table]
  return sql`
INSERT INTO ${staged[table]} (staged_load, ${columns})
SETTINGS insert_deduplicate = 0
SELECT ${uint64(load)}, ${columns} FROM (${select})`
}

/**
 * Drops what a load has computed. Its temporary tables go at once, with SYNC: they hold IP addresses, which are never stored.
 *
 * @param except a temporary table that stays
 */
export async function dropLoadTables(
  writer: Connection,
  tables: LoadTables,
  except?: TemporaryTable,
): Promise<void> {
  const names = TEMPORARY_TABLES.filter((table) => table !== except).map((table) => tables[table])
  await settleAll([
    writer.execute(statement(sql`DROP TABLE IF EXISTS ${join(names)} SYNC`)),
    ...STAGED_TABLES.map((table) => dropPartition(writer, tables.staged[table], tables.load)),
  ])
}

/** Drops one temporary table of a load. */
export const dropTemporaryTable = (
  writer: Connection,
  tables: LoadTables,
  table: TemporaryTable,
): Promise<void> => writer.execute(statement(sql`DROP TABLE IF EXISTS ${tables[table]} SYNC`))

const dropPartition = (writer: Connection, table: Sql, load: number): Promise<void> =>
  writer.execute(statement(sql`ALTER TABLE ${table} DROP PARTITION ${uint64(load)}`))

/** Drops what suspended loaders have staged after their load was abandoned. The caller holds the lease, and no load is unfinished. */
export async function emptyStagedTables(writer: Connection): Promise<void> {
  const counts = STAGED_TABLES.map((table) => sql`(SELECT count() FROM ${LIVE_STAGED[table]})`)
  const { rows } = await writer.query<{ counts: readonly number[] }>(
    statement(sql`SELECT [${join(counts)}] AS counts`),
  )
  const filled = STAGED_TABLES.filter((_, i) => rows[0]?.counts[i] !== 0)
  for (const table of filled)
    await writer.execute(statement(sql`TRUNCATE TABLE ${LIVE_STAGED[table]}`))
}

/** Adds the session attributes that an earlier build did not know to the permanent tables. Loads that it has staged have none. */
export async function addMissingAttributes(writer: Connection): Promise<void> {
  for (const change of listMissingColumns(LIVE_STAGED)) {
    await writer.execute(statement(sql`ALTER TABLE ${change}`))
  }
}

/** Attributes are texts. Publishing converts them to the types of the published tables. */
const addTexts = (columns: readonly Sql[]): Sql =>
  join(columns.map((column) => sql`ADD COLUMN IF NOT EXISTS ${column} String`))

/** Version 0.1.0 does not count pageleaves. */
const PAGELEAVES = sql`ADD COLUMN IF NOT EXISTS pageleaves UInt32`

const listMissingColumns = ({
  rows,
  sessions,
  previousStates,
  movedEvents,
}: Readonly<Record<StagedTable, Sql>>): readonly Sql[] => [
  sql`${rows} ${addTexts(ATTRIBUTES)}`,
  sql`${sessions} ${PAGELEAVES}, ${addTexts(ATTRIBUTES)}`,
  sql`${previousStates} ${PAGELEAVES}, ${addTexts([...ATTRIBUTES, ...NEW_ATTRIBUTES])}`,
  sql`${movedEvents} ${addTexts(ATTRIBUTES)}`,
]

/**
 * Moves what version 0.1.0 has staged into the permanent tables. It cannot be staged again, because part of it may be published
 * already. Session attributes that it did not know are empty, and so is the day on which a row was received. May be repeated.
 */
export async function adoptFormerTables(writer: Connection, tables: LoadTables): Promise<void> {
  const prefix = `load_${tables.load}_`
  const found = await listTemporaryTables(writer, [matchNames(prefix, Object.values(FORMER))])
  const isThere = (table: StagedTable): boolean =>
    found.some(({ name }) => name === `${prefix}${FORMER[table]}`)
  const former = mapStaged((table) => identifier(`${prefix}${FORMER[table]}`))
  const changes = [
    ...listMissingColumns(former),
    sql`
${former.rows}
  ADD COLUMN IF NOT EXISTS received_on Date,
  ADD COLUMN IF NOT EXISTS rejection String DEFAULT if(fate = 'rejected', 'other', '')`,
  ]
  if (STAGED_TABLES.every(isThere)) {
    for (const change of changes) await writer.execute(statement(sql`ALTER TABLE ${change}`))
  }
  for (const table of STAGED_TABLES.filter(isThere)) {
    await dropPartition(writer, tables.staged[table], tables.load)
    await writer.execute(
      statement(insertStaged(tables, table, sql`SELECT * FROM ${former[table]}`)),
    )
    await writer.execute(statement(sql`DROP TABLE ${former[table]} SYNC`))
  }
}
