/** Counts the rows of a load in its tables, before it publishes anything. */
import type { Connection } from '../../clickhouse/connection.js'
import { sql, statement, type Sql } from '../../clickhouse/sql.js'
import { buildFromClause, type LoadSource } from './load-source.js'
import { EMPTY_REPORT, parseReport, type LoadReport, type ReportRow } from './load-report.js'
import type { LoadTables } from './steps/shared/load-tables.js'
import { estimateSlices } from './steps/slices.js'

export interface Survey {
  readonly report: LoadReport
  /** Whether stored events move to another session, or their session's attributes change. */
  readonly movesEvents: boolean
  /** In how many parts the load is to be published. */
  readonly slices: number
  /** Whether it has users that are new to the store. */
  readonly hasNewUsers: boolean
  /** Whether it has event ids. */
  readonly hasEventIds: boolean
  /** Whether rows are forwarded to another shard. The report leaves them out. */
  readonly forwards: boolean
}

const EMPTY_SURVEY: Survey = {
  report: EMPTY_REPORT,
  movesEvents: false,
  slices: 1,
  hasNewUsers: false,
  hasEventIds: false,
  forwards: false,
}

type SurveyRow = ReportRow &
  Readonly<Record<'moved' | 'slices' | 'newUsers' | 'eventIds' | 'forwarded', number>>

/**
 * Counts what a staged load will publish.
 *
 * @param mayForward whether the store is a shard, which forwards rows of projects that live on others
 */
export async function surveyLoad(
  writer: Connection,
  tables: LoadTables,
  mayForward = false,
): Promise<Survey> {
  const received = mayForward
    ? sql`countIf(fate = 'forwarded') AS forwarded, count() - forwarded AS received`
    : sql`count() AS received`
  const [counts] = await selectRows<SurveyRow>(
    writer,
    sql`
WITH
  (SELECT (count(), countIf(reason = 'bot')) FROM ${tables.excludedEvents}) AS excluded_events,
  (SELECT (count(), toUnixTimestamp64Milli(minOrNull(timestamp)), toUnixTimestamp64Milli(maxOrNull(timestamp))) FROM ${tables.kept}) AS kept
SELECT
  ${received}, countIf(fate = 'rejected') AS rejected,
  kept.1 AS events, kept.2 AS first, kept.3 AS last,
  excluded_events.2 AS bots, excluded_events.1 - bots AS excluded,
  received - events - excluded_events.1 - rejected AS duplicates,
  (SELECT countIf(is_moved) FROM ${tables.previousStates}) AS moved,
  (SELECT countIf(is_new) FROM ${tables.users}) AS newUsers,
  countIf(event_key != 0 AND fate = 'kept') AS eventIds,
  ${estimateSlices(tables)} AS slices
FROM ${tables.rows}`,
  )
  if (counts === undefined) return EMPTY_SURVEY
  return {
    report: parseReport(counts),
    movesEvents: counts.moved > 0,
    slices: counts.slices,
    hasNewUsers: counts.newUsers > 0,
    hasEventIds: counts.eventIds > 0,
    forwards: mayForward && counts.forwarded > 0,
  }
}

/** Returns whether an insert of a load may have rows. */
export function mayInsert({ hasNewUsers, hasEventIds }: Survey, name: string): boolean {
  if (name.startsWith('user')) return hasNewUsers
  return name !== 'event_ids' || hasEventIds
}

/** Counts the rows of a refused load. */
export async function surveyRefusedLoad(
  writer: Connection,
  tables: LoadTables,
): Promise<LoadReport> {
  const [counts] = await selectRows<Pick<LoadReport, 'received' | 'excluded' | 'rejected'>>(
    writer,
    sql`
SELECT count() AS received, countIf(fate IN ('ip', 'country')) AS excluded, countIf(fate = 'rejected') AS rejected
FROM ${tables.rows}`,
  )
  return { ...EMPTY_REPORT, ...counts }
}

/** Returns whether a batch is refused: it is strict and has an invalid row, so none of its rows is loaded. */
export async function isRefused(
  writer: Connection,
  tables: LoadTables,
  source: LoadSource,
): Promise<boolean> {
  const rows = await selectRows(
    writer,
    sql`
SELECT 1 FROM ${tables.rows}
WHERE fate = 'rejected' AND (SELECT max(strict) ${buildFromClause(source)})
LIMIT 1`,
  )
  return rows.length > 0
}

/** Runs a SELECT and returns its rows. */
export const selectRows = async <Row>(writer: Connection, query: Sql): Promise<readonly Row[]> =>
  (await writer.query<Row>(statement(query))).rows
