/** Computes the rollups of a month once more from the facts, beside those that are there. */
import type { Connection } from '../clickhouse/connection.js'
import { join, sql, statement, string, uint32, TRUE, type Sql } from '../clickhouse/sql.js'
import { CHANGE_COLUMNS, COUNTED_ATTRIBUTES } from '../ingest/loader/columns.js'
import { createViews, dropViews } from './feed.js'
import { DRAFT, LIVE, ROLLUP_NAMES, type RollupName } from './tables.js'

/** A month as ClickHouse numbers partitions, e.g. 202601. */
export type Month = number

/** The column by which the rows of a rollup belong to a month. */
export const dateColumn = (name: RollupName): Sql =>
  name.endsWith('_daily') ? sql`day` : sql`month`

/** The rows of a project, or of all. */
export const ofProject = (projectId: string | undefined): Sql =>
  projectId === undefined ? TRUE : sql`project_id = ${string(projectId)}`

/** The rows of a rollup's month, of a project or of all. */
export const ofMonth = (name: RollupName, month: Month, projectId?: string): Sql =>
  sql`toYYYYMM(${dateColumn(name)}) = ${uint32(month)} AND ${ofProject(projectId)}`

/** Large blocks: what is added up before it is written need not be merged. */
const LARGE_BLOCKS = {
  insert_deduplicate: 0,
  min_insert_block_size_rows: '2000000',
  min_insert_block_size_bytes: '0',
  max_block_size: '65536',
} as const

const COLUMNS = join([...CHANGE_COLUMNS, ...COUNTED_ATTRIBUTES.map(({ column }) => column)])

/**
 * Does the work with the drafts of a month filled from the facts, and drops them however it ends. The
 * caller holds the lease of the loader, so that facts and rollups stand still.
 *
 * @param projectId the only project whose rows are computed
 */
export async function withDraft<Result>(
  writer: Connection,
  month: Month,
  projectId: string | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  await dropDraft(writer)
  await createDraft(writer)
  try {
    await writer.execute(
      statement(sql`
INSERT INTO ${DRAFT.eventChanges} (session, sign, ${COLUMNS})
SELECT session, 1, ${COLUMNS} FROM events WHERE toYYYYMM(timestamp) = ${uint32(month)} AND ${ofProject(projectId)}`),
      LARGE_BLOCKS,
    )
    await writer.execute(
      statement(sql`
INSERT INTO ${DRAFT.sessions}
SELECT * FROM sessions WHERE toYYYYMM(start_at) = ${uint32(month)} AND ${ofProject(projectId)}`),
      LARGE_BLOCKS,
    )
    return await work()
  } finally {
    await dropDraft(writer)
  }
}

async function createDraft(writer: Connection): Promise<void> {
  const copies: readonly (readonly [Sql, Sql])[] = [
    [DRAFT.eventChanges, LIVE.eventChanges],
    [DRAFT.rollupChanges, LIVE.rollupChanges],
    ...ROLLUP_NAMES.map((name) => [DRAFT.rollups[name], LIVE.rollups[name]] as const),
  ]
  for (const [draft, live] of copies) {
    await writer.execute(statement(sql`CREATE TABLE ${draft} AS ${live}`))
  }
  // Facts are read from the table itself; its draft is a way in that keeps nothing.
  await writer.execute(
    statement(sql`CREATE TABLE ${DRAFT.sessions} AS ${LIVE.sessions} ENGINE = Null`),
  )
  await createViews(writer, DRAFT)
}

async function dropDraft(writer: Connection): Promise<void> {
  await dropViews(writer, DRAFT)
  const tables = [
    DRAFT.eventChanges,
    DRAFT.sessions,
    DRAFT.rollupChanges,
    ...Object.values(DRAFT.rollups),
  ]
  await writer.execute(statement(sql`DROP TABLE IF EXISTS ${join(tables)} SYNC`))
}

/** The months that there are facts or rollups of, the earliest first. */
export async function listMonths(
  writer: Connection,
  projectId: string | undefined,
): Promise<readonly Month[]> {
  const ofTables = [
    sql`SELECT toYYYYMM(timestamp) AS month FROM events WHERE ${ofProject(projectId)}`,
    sql`SELECT toYYYYMM(start_at) FROM sessions WHERE ${ofProject(projectId)}`,
    ...ROLLUP_NAMES.map(
      (name) =>
        sql`SELECT toYYYYMM(${dateColumn(name)}) FROM ${LIVE.rollups[name]} WHERE ${ofProject(projectId)}`,
    ),
  ]
  const { rows } = await writer.query<{ month: Month }>(
    statement(sql`SELECT DISTINCT month FROM (${join(ofTables, sql` UNION ALL `)}) ORDER BY month`),
  )
  return rows.map(({ month }) => month)
}
