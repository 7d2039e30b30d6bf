/** Runs one load: the order of its steps, from the rows of the inbox to published events. */
import { setTimeout as sleep } from 'node:timers/promises'
import { announceChange, type Change } from '../../changes/announce-change.js'
import { endReplacing } from '../../changes/left-changes.js'
import { NOTICE_MS } from '../../changes/timing.js'
import type { Connection } from '../../clickhouse/connection.js'
import { INLINED } from '../../clickhouse/temporary-tables.js'
import { sql, statement } from '../../clickhouse/sql.js'
import { settleAll } from '../../lib/settle.js'
import {
  deleteReplacedGroups,
  reduceGroups,
  removeUsersFromRollups,
  selectHashes,
  type FormerUsers,
} from '../../rollups/remove-users.js'
import { dropBatch } from '../inbox/batches.js'
import {
  NO_ROWS,
  readStep,
  recordLoaded,
  recordStaged,
  STEP,
  type Load,
  type LoadedRows,
} from './load-log.js'
import type { LoadReport } from './load-report.js'
import { buildFromClause, isOfStream, nameRejections } from './load-source.js'
import type { LoaderContext } from './loader-context.js'
import {
  adoptFormerTables,
  dropLoadTables,
  dropTemporaryTable,
  nameLoadTables,
  seeOwnRows,
  type LoadTables,
} from './steps/shared/load-tables.js'
import {
  deleteMovedEvents,
  findStaleRollupUsers,
  insertRejections,
  selectMonthsOfMovedEvents,
  selectProjects,
} from './steps/publish.js'
import { insertForwards, type LoadedShardName } from './steps/residence.js'
import { restoreFacts, restoreRejections } from './steps/restore-facts.js'
import { insertOnce, sliceInserts, type LoadInsert } from './steps/slices.js'
import { stageRows } from './steps/stage-rows.js'
import { dropLoadedParts, recordStretches } from './stream.js'
import {
  isRefused,
  mayInsert,
  selectRows,
  surveyLoad,
  surveyRefusedLoad,
  type Survey,
} from './survey.js'

/**
 * Runs a load, or publishes it if it is staged. Everything is computed into tables of the load before anything is
 * published; from then on only those tables are read.
 *
 * @throws LoadAbandonedError when another loader has abandoned the load
 */
export async function runLoad(
  loader: Connection,
  load: Load,
  context: LoaderContext,
): Promise<LoadReport> {
  const tables = nameLoadTables(load.number)
  const writer = seeOwnRows(loader, tables)
  let announced: Promise<Change> | undefined
  const announce = (): Promise<Change> =>
    (announced ??= announceChange(writer, selectProjects(tables), context.noticeMs))
  if (load.step === STEP.started) {
    const isAccepted = await stageRows(writer, tables, {
      rows: buildFromClause(load),
      load: load.number,
      context,
      // Only batches can be strict.
      ...(!isOfStream(load) && {
        isRefused: () => isRefused(writer, tables, load),
      }),
      // Services notice the change while the load is staged.
      onAccepted: announce,
    })
    if (!isAccepted) return refuseLoad(writer, tables, load)
  } else {
    await adoptFormerTables(writer, tables)
    await assertStaged(writer, tables)
  }
  const change = await announce()
  const survey = await surveyLoad(writer, tables, context.shard !== undefined)
  const staged = load.step === STEP.started ? await recordStaged(writer, load, survey.slices) : load
  // A loader that was suspended and has lost its lease must not publish rows that another load has taken.
  if ((await readStep(writer, load)) !== STEP.staged) throw new LoadAbandonedError(load)
  await change.settle()
  const former = await publishLoad(writer, tables, staged, {
    survey,
    change,
    shard: context.shard,
  })
  if (load.step === STEP.staged) {
    await restoreFacts(writer, tables, load.number)
    await restoreRejections(writer, tables, nameRejections(load))
  }
  const close = (): Promise<LoadReport> =>
    closeLoad(writer, staged, survey.report, {
      rowsLeft: sql`(SELECT groupArray(row) FROM ${tables.rows} WHERE fate = 'rejected')`,
      projects: sql`(SELECT groupUniqArray(toString(project_id)) FROM ${tables.kept})`,
    })
  if (former === undefined) {
    await change.end()
    return close()
  }
  await change.end({ groups: selectHashes(former), before: former.generation })
  return withReplacedGroups(writer, former, close, context.noticeMs)
}

/** Deletes the rows of replaced groups, which no query counts any more, and then closes the load. */
async function withReplacedGroups(
  writer: Connection,
  former: FormerUsers,
  close: () => Promise<LoadReport>,
  noticeMs = NOTICE_MS,
): Promise<LoadReport> {
  await deleteReplacedGroups(writer, former)
  // A statement that has chosen its parts just before may look only now which groups are replaced.
  const [report] = await Promise.all([close(), sleep(noticeMs)])
  await endReplacing(writer, former.generation)
  return report
}

/** @throws Error when a staged load has no rows any more: publishing it would lose them. */
async function assertStaged(writer: Connection, { load, rows }: LoadTables): Promise<void> {
  const found = await selectRows(writer, sql`SELECT 1 FROM ${rows} LIMIT 1`)
  if (found.length === 0) throw new Error(`the staged rows of load ${load} are missing`)
}

/** Another loader has abandoned the load, and loads its rows under another number. */
class LoadAbandonedError extends Error {
  override readonly name = 'LoadAbandonedError'

  constructor({ number }: Load) {
    super(`another process has taken over the rows of load ${number}`)
  }
}

/**
 * Publishes a staged load. Every statement may be repeated. While it writes what queries read, queries wait, so it does beforehand
 * all that can be done beforehand, and the rest side by side.
 *
 * @returns the users whose groups are replaced, and whose rows of before are still stored; undefined if there are none
 */
async function publishLoad(
  writer: Connection,
  tables: LoadTables,
  load: Load,
  {
    survey,
    change,
    shard,
  }: {
    readonly survey: Survey
    readonly change: Change
    readonly shard: LoadedShardName | undefined
  },
): Promise<FormerUsers | undefined> {
  const { number, slices } = load
  const insert = ({ token, insert: text }: LoadInsert): Promise<void> =>
    insertOnce(writer, text, `load-${number}-${token}`)
  if (survey.forwards && shard !== undefined) {
    const forwards = insertForwards(tables, number, buildFromClause(load), shard)
    await insert({ name: 'forwards', token: 'forwards', insert: forwards, isRead: false })
  }
  const inserts = sliceInserts(tables, number, slices).filter(({ name }) => mayInsert(survey, name))
  const moved = survey.movesEvents ? await findMoved(writer, tables, number) : NOTHING_MOVED
  await settleAll([
    ...inserts.filter(({ isRead }) => !isRead).map(insert),
    ...(survey.report.rejected > 0
      ? [publishRejections(writer, tables, number, nameRejections(load))]
      : []),
  ])
  const reads = inserts.filter(({ isRead }) => isRead)
  await change.publish()
  await settleAll([
    removeMovedEvents(writer, tables, number, moved.months),
    // Slices are as large as the memory allows, so one goes after another.
    slices === 1 ? settleAll(reads.map(insert)) : runInTurn(reads, insert),
  ])
  if (moved.groups === 0) return undefined
  const former = { stale: tables.staleRollupUsers, generation: number }
  // The views have added the users of the new events to the groups by now.
  if (moved.groups > MAX_REPLACED) {
    await removeUsersFromRollups(writer, former)
    return undefined
  }
  await reduceGroups(writer, former)
  return former
}

/** The most groups that queries leave out while their rows are deleted. Of more, queries wait until they are deleted. */
const MAX_REPLACED = 50_000

async function runInTurn<Item>(
  items: readonly Item[],
  run: (item: Item) => Promise<void>,
): Promise<void> {
  for (const item of items) await run(item)
}

/** What a load does to stored events. */
interface Moved {
  /** The months of the events of changed sessions, as partitions of `events`. */
  readonly months: readonly number[]
  /** In how many groups of the rollups users have no event left. */
  readonly groups: number
}

const NOTHING_MOVED: Moved = { months: [], groups: 0 }

/** Finds the events that move, and fills the table of the users that leave groups. */
async function findMoved(writer: Connection, tables: LoadTables, load: number): Promise<Moved> {
  await dropTemporaryTable(writer, tables, 'staleRollupUsers')
  await writer.execute(statement(findStaleRollupUsers(tables, load)))
  const rows = await selectRows<{ month: number }>(writer, selectMonthsOfMovedEvents(tables))
  const [left] = await selectRows<{ groups: number }>(
    writer,
    sql`SELECT uniqExact(grain, project_id, dimension, value, other, day) AS groups FROM ${tables.staleRollupUsers}`,
  )
  return { months: rows.map(({ month }) => month), groups: left?.groups ?? 0 }
}

/** Deletes the stored events of changed sessions, only in the months that have some: the others are left as they are. */
async function removeMovedEvents(
  writer: Connection,
  tables: LoadTables,
  load: number,
  months: readonly number[],
): Promise<void> {
  if (months.length === 0) return
  await writer.execute(statement(deleteMovedEvents(tables, load, months)), INLINED)
}

/** Stores the rejected rows, under the name `batch`. */
const publishRejections = (
  writer: Connection,
  tables: LoadTables,
  load: number,
  batch: string,
): Promise<void> => insertOnce(writer, insertRejections(tables, batch), `load-${load}-rejections`)

/** Ends the load of a strict batch with invalid rows: only the reasons are published. */
async function refuseLoad(writer: Connection, tables: LoadTables, load: Load): Promise<LoadReport> {
  // A loader that was killed here may have stored them, under another number of the load.
  await restoreRejections(writer, tables, load.batch)
  const report = await surveyRefusedLoad(writer, tables)
  return closeLoad(writer, load, report, {
    ...NO_ROWS,
    rowsLeft: sql`(SELECT groupArray(row) FROM ${tables.rows})`,
  })
}

/** Records the end of a load, and drops what only the load needed. */
export async function closeLoad(
  writer: Connection,
  load: Load,
  report: LoadReport,
  rows: LoadedRows,
): Promise<LoadReport> {
  if (!isOfStream(load)) {
    await recordLoaded(writer, load, report, rows)
    await clearLoad(writer, load)
    return report
  }
  // A load whose stretches are recorded is finished, whatever else is recorded of it.
  await recordStretches(writer, load.number, load)
  await settleAll([recordLoaded(writer, load, report, NO_ROWS), clearLoad(writer, load)])
  return report
}

/**
 * Drops the tables of a finished load, and then its rows of the inbox. The rows go last: a loader that finds them clears
 * the load again. Rows of the stream may go first: all tables of loads are dropped before the next loader begins.
 */
export async function clearLoad(writer: Connection, load: Load): Promise<void> {
  const dropsTables = dropLoadTables(writer, nameLoadTables(load.number))
  if (isOfStream(load)) return settleAll([dropsTables, dropLoadedParts(writer)])
  await dropsTables
  await dropBatch(writer, load.batch)
}
