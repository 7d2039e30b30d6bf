/**
 * Reads at one moment: a response is of one state of a project's data, also while a change is published.
 *
 * ClickHouse has no snapshots across tables and statements. But a statement chooses the parts of all its tables before it runs, and
 * evaluates `additional_result_filter` after that. A condition there checks that nothing has been published since the moment of
 * the request. If it does not hold, the statement fails at once, and the request is read again at a later moment.
 */
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection, Settings } from '../clickhouse/connection.js'
import { filterTables, GuardError } from '../clickhouse/run.js'
import { requireBareName, sql, statement, strings } from '../clickhouse/sql.js'
import { hashGroup, USER_ROLLUPS, type Rollup } from '../model/rollups.js'
import { ALL, isPublishing, readStates, type State } from './states.js'

/** A state of the data of some projects on one store. */
export interface Moment {
  /** The last changes of each project, and of all projects, that were published at this moment. */
  readonly published: readonly string[]
  /** Whether rows are hidden that are being deleted. Rollups may count some of them. */
  readonly isHiding: boolean
  /** The generation of the rows of rollups that have replaced others; 0 if none have, undefined for several stores. */
  readonly replacedBefore: number | undefined
  /** How many of the projects have rollups of pairs. */
  readonly paired: number
  /** Whether nothing has changed lately. Then it is cheaper to ask after a statement whether that is still so than to let it check. */
  readonly isQuiet: boolean
}

/** Reads the moment; undefined while a change is being published. */
export const readMoment = async (
  connection: Connection,
  projectIds: readonly string[],
  signal: AbortSignal,
): Promise<Moment | undefined> =>
  toMoment(
    await readStates(connection, sql`project_id IN ${strings([ALL, ...projectIds])}`, signal),
  )

/** Returns the moment of some projects whose states are known; undefined while a change is being published. */
export const toMoment = (states: readonly State[]): Moment | undefined =>
  states.some(isPublishing)
    ? undefined
    : {
        published: states.map(({ published }) => published),
        isHiding: states.some(({ isHiding }) => isHiding),
        replacedBefore: Math.max(0, ...states.map(({ replacedBefore }) => replacedBefore)),
        paired: states.filter(({ isPaired }) => isPaired).length,
        isQuiet: false,
      }

/** Returns a short name of a moment: two moments with the same name are of the same data. */
export const nameMoment = ({ published }: Moment): string =>
  createHash('sha256')
    .update([...published].sort().join())
    .digest('hex')
    .slice(0, 16)

/** How a request finds the moment at which it reads. */
export interface Moments<One> {
  /** Returns the last moment that is known without asking, however long ago it was; undefined if there is none. */
  readonly getLast: () => One | undefined
  /** Reads the current moment; undefined while a change is being published. */
  readonly read: () => Promise<One | undefined>
}

/** How long a request waits until it looks again whether a change is still being published. */
const PAUSE_MS = 10

/**
 * Reads at one moment. If the data changes while it is read, it is read again at a later moment.
 *
 * @param work rejects with a GuardError if a guarded statement does
 * @param signal ends the wait for a change that is being published
 * @throws what `work` rejects with, StillPublishingError
 */
export async function atOneMoment<One, Result>(
  moments: Moments<One>,
  work: (moment: One) => Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  for (let last = moments.getLast(); ; last = undefined) {
    const moment = last ?? (await waitForMoment(moments, signal))
    try {
      return await work(moment)
    } catch (error) {
      if (!(error instanceof GuardError)) throw error
    }
  }
}

/** A change was being published for longer than the request could wait. */
export class StillPublishingError extends Error {
  override readonly name = 'StillPublishingError'

  constructor() {
    super('a change of the project is still being published')
  }
}

/**
 * Waits until no change is being published, and returns the moment after that.
 *
 * @throws StillPublishingError when the signal is aborted meanwhile, and what `read` rejects with
 */
export async function waitForMoment<One>(
  { read }: Moments<One>,
  signal: AbortSignal,
): Promise<One> {
  for (let looks = 0; ; looks++) {
    if (looks > 0 && signal.aborted) throw new StillPublishingError()
    const moment = await read().catch((error: unknown) => {
      throw looks > 0 && signal.aborted ? new StillPublishingError() : error
    })
    if (moment !== undefined) return moment
    await sleep(PAUSE_MS)
  }
}

/** Joins the moments of several stores. ClickHouse passes settings on to other shards, so a condition must hold on each. */
export const joinMoments = (moments: readonly Moment[]): Moment => ({
  published: moments.flatMap(({ published }) => published),
  isHiding: moments.some(({ isHiding }) => isHiding),
  replacedBefore: joinReplaced(moments),
  paired: Math.min(...moments.map(({ paired }) => paired)),
  isQuiet: moments.every(({ isQuiet }) => isQuiet),
})

const joinReplaced = (moments: readonly Moment[]): number | undefined => {
  if (moments.every(({ replacedBefore }) => replacedBefore === 0)) return 0
  return moments.length === 1 ? moments[0]?.replacedBefore : undefined
}

/** Whether two moments of the same store are the same. */
export const isSameMoment = (a: Moment, b: Moment | undefined): boolean =>
  b !== undefined && [...a.published].sort().join() === [...b.published].sort().join()

/** Of a project that has never changed. */
const NEVER = '00000000-0000-0000-0000-000000000000'

/**
 * Builds the settings of the statements of a query. A statement fails with a GuardError if one of the projects has changed since the
 * moment, unless that is quiet, and does not see what is hidden or replaced.
 *
 * @param moment that of all shards that the statements read; each looks up which rows are hidden on it
 * @param database that of the tables, which is the same on all shards
 */
export function readAt(
  projectIds: readonly string[],
  { published, isHiding, replacedBefore, isQuiet }: Moment,
  database: string,
): Settings {
  const known = [NEVER, ...new Set(published)].map((id) => `'${requireUuid(id)}'`).join(', ')
  const ids = projectIds.map(writeText).join(', ')
  const guard = `(SELECT throwIf(countIf(newest NOT IN (${known})) > 0) FROM (SELECT argMax(published, change) AS newest FROM ${requireBareName(database)}.project_changes WHERE project_id IN ('${ALL}', ${ids}) GROUP BY project_id)) = 0`
  return {
    ...(isQuiet ? {} : { additional_result_filter: guard }),
    // Where rows are hidden, no rollups are read.
    ...(isHiding ? filterFacts(ids, requireBareName(database)) : {}),
    ...(replacedBefore === 0 || isHiding
      ? {}
      : filterGroups(ids, requireBareName(database), replacedBefore)),
  }
}

/** Writes a text as its bytes: a setting takes no parameters, and one that filters tables no quotes. */
const writeText = (text: string): string => `char(${[...Buffer.from(text)].join(', ')})`

/** The column by which rows are hidden before the first day that is kept. */
const TIMES = { events: 'timestamp', sessions: 'start_at' } as const

/** Builds the setting that leaves out the hidden rows of the facts. Numbers of users are those of the shard that reads them. */
function filterFacts(ids: string, database: string): Settings {
  const users = selectStates('hidden_users', ids, database)
  const kept = selectStates('kept_from', ids, database)
  const writeFilter = (time: string): string => `
(project_id, user) NOT IN (SELECT project_id, arrayJoin(state) FROM (${users}))
AND toDate(${time}) >= ${writeStateOfRow(kept)}`
  const filters = Object.entries(TIMES).map(
    ([table, time]) => [`${database}.${table}`, writeFilter(time)] as const,
  )
  return filterTables(filters)
}

/**
 * Builds the setting that leaves out the rows of groups that were written again.
 *
 * @param known the generation of the new rows; undefined to look it up, which costs as much as to look up the groups
 */
function filterGroups(ids: string, database: string, known: number | undefined): Settings {
  const before =
    known ?? `(SELECT max(state) FROM (${selectStates('replaced_before', ids, database)}))`
  const groups = `SELECT arrayJoin(replaced_groups) FROM ${database}.project_changes WHERE project_id IN (${ids}) AND replaced_before = ${before}`
  const writeFilter = (rollup: Rollup): string =>
    `generation >= ${before} OR ${statement(hashGroup(rollup)).query} NOT IN (${groups})`
  const filters = USER_ROLLUPS.map(
    (rollup) => [`${database}.${rollup.name}`, writeFilter(rollup)] as const,
  )
  return filterTables(filters)
}

/** Selects a column of the last state of each project. */
const selectStates = (column: string, ids: string, database: string): string =>
  `SELECT project_id, argMax(${column}, change) AS state FROM ${database}.project_changes WHERE project_id IN (${ids}) GROUP BY project_id`

/** Writes the state of the project of a row. */
const writeStateOfRow = (states: string): string =>
  `(SELECT mapFromArrays(groupArray(project_id), groupArray(state)) FROM (${states}))[toString(project_id)]`

function requireUuid(text: string): string {
  if (!/^[0-9a-f-]{36}$/.test(text)) throw new TypeError('not a UUID')
  return text
}
