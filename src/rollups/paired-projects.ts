/** Which projects have rollups of pairs: the large ones. Small ones would need as much room for them as for their events, and gain nothing. */
import { announceChange } from '../changes/announce-change.js'
import type { Connection } from '../clickhouse/connection.js'
import { fenceConnection } from '../clickhouse/connection-wrappers.js'
import { underLease, type Lease } from '../clickhouse/lease/lease.js'
import { join, sql, statement, string, strings, uint64, type Sql } from '../clickhouse/sql.js'
import type { Store } from '../clickhouse/store.js'
import { LIVE } from '../model/rollup-table-sets.js'
import { TOTAL } from '../model/rollups.js'
import { createViews } from './materialized-views.js'
import { LEASE_TIMEOUT_MS, type MonthsOptions } from './process-months.js'
import { readRollupState } from './progress.js'
import { rebuildRollups } from './rebuild.js'

/** From this many events on, pairs take clearly less time than facts. */
export const MIN_PAIRED_EVENTS = 1_000_000

type Options = Omit<MonthsOptions, 'projectId'>

/** Counts the pairs of all large projects that lack them, one after the other, while queries are served and events are loaded. */
export async function pairLargeProjects(connections: Connections, options: Options): Promise<void> {
  const { writer } = connections
  for (const projectId of await listDue(writer)) {
    await underLease(
      writer,
      'rollups',
      (fenced, lease) => pairProject({ ...connections, writer: fenced }, projectId, options, lease),
      { waitMs: LEASE_TIMEOUT_MS },
    )
  }
}

type Connections = Pick<Store, 'admin' | 'writer'>

async function pairProject(
  { admin, writer }: Connections,
  projectId: string,
  options: Options,
  lease: Lease,
): Promise<void> {
  // A build of all rollups counts pairs as well. While it is interrupted, some of its months may be from before the pairs were begun.
  if ((await readRollupState(writer)) !== 'current') return
  await beginPairs({ admin, writer }, [projectId])
  await rebuildRollups(writer, { ...options, projectId }, lease)
  await lease.assertHeld()
  await completePairs(writer, [projectId], options)
}

/** Lists the projects whose pairs are to be counted: large ones, and those that an interrupted process has begun with. */
export async function listDue(writer: Connection): Promise<readonly string[]> {
  const { rows } = await writer.query<{ project_id: string }>(
    statement(sql`
SELECT project_id FROM (
  SELECT toString(project_id) AS project_id FROM sessions_monthly WHERE dimension = ${string(TOTAL)}
  GROUP BY project_id HAVING sum(pageviews + events) >= ${uint64(MIN_PAIRED_EVENTS)}
  UNION DISTINCT
  SELECT project_id FROM paired_projects
)
WHERE project_id NOT IN (${COMPLETE}) ORDER BY project_id`),
  )
  return rows.map(({ project_id: id }) => id)
}

/** Returns whether queries may read the pairs of a project in a store, as long as its data is the same. */
export async function isPaired(connection: Connection, projectId: string): Promise<boolean> {
  const { rows } = await connection.query(
    statement(
      sql`SELECT 1 FROM paired_projects WHERE is_complete AND project_id = ${string(projectId)} LIMIT 1`,
    ),
  )
  return rows.length > 0
}

/** Lists the projects whose pairs were begun, and are not complete. */
export async function listBegun(writer: Connection): Promise<readonly string[]> {
  const { rows } = await writer.query<{ project_id: string }>(
    statement(
      sql`SELECT DISTINCT project_id FROM paired_projects WHERE project_id NOT IN (${COMPLETE}) ORDER BY project_id`,
    ),
  )
  return rows.map(({ project_id: id }) => id)
}

const COMPLETE = sql`SELECT project_id FROM paired_projects WHERE is_complete`

/** The views count the pairs of these projects from now on. Earlier events lack until all months are rebuilt. */
export const beginPairs = (
  { admin, writer }: Connections,
  projectIds: readonly string[],
): Promise<void> =>
  underLease(
    writer,
    'loader',
    async (holder, { signal }) => {
      await record(holder, selectProjects(projectIds), sql`false`)
      await createViews(fenceConnection(admin, signal), LIVE)
    },
    { waitMs: LEASE_TIMEOUT_MS },
  )

/** Lets queries read the pairs of these projects. All months were rebuilt since the pairs were begun. */
export const completePairs = (
  writer: Connection,
  projectIds: readonly string[],
  { finishInterruptedWork, changeNoticeMs }: Options,
): Promise<void> =>
  underLease(
    writer,
    'loader',
    async (holder) => {
      await finishInterruptedWork(holder)
      // Services know the pairs of a project together with the state of its data, and only as long as that is the same.
      const change = await announceChange(holder, selectProjects(projectIds), changeNoticeMs)
      await change.settle()
      await change.publish()
      // A project that was deleted since, and created again, has no pairs.
      const begun = sql`SELECT DISTINCT project_id FROM paired_projects WHERE has(${strings(projectIds)}, project_id)`
      await record(holder, begun, sql`true`)
      await change.end()
    },
    { waitMs: LEASE_TIMEOUT_MS },
  )

const selectProjects = (projectIds: readonly string[]): Sql =>
  sql`SELECT arrayJoin(${strings(projectIds)}) AS project_id`

const record = (writer: Connection, projects: Sql, isComplete: Sql): Promise<void> =>
  writer.execute(
    statement(
      sql`INSERT INTO paired_projects (project_id, is_complete) SELECT ${join([sql`project_id`, isComplete])} FROM (${projects})`,
    ),
  )
