/** Reads what projects used, by day or month: events by what became of them, queries, and bytes. */
import { sql, statement, string, strings, type Sql } from '../clickhouse/sql.js'
import type { Cluster, Shard } from '../cluster/cluster.js'
import { FORWARDED } from '../ingest/loader/steps/usage.js'
import { REJECTIONS, type Rejection } from '../ingest/loader/steps/validate-rows.js'
import { addDays, formatDay, startOfMonth } from '../lib/time.js'
import { TOTAL } from '../model/rollups.js'
import type { StoredProject } from '../projects/project.js'
import { QUERIES } from '../deletion/keep-usage.js'
import { listProjects, listProjectsById } from '../projects/store.js'
import { MOVED_TABLES } from '../relocation/rows/moved-tables.js'
import { selectDeletedUsage, type DeletedProjects } from './deleted-usage.js'
import { readBetweenLoads, selectWaitingRows } from './waiting-rows.js'

/** Why a row of a project is rejected. A row without a project is a row of none. */
export type RejectedReason = Exclude<Rejection, 'project'>
const REJECTED_REASONS: readonly RejectedReason[] = REJECTIONS.filter(
  (reason) => reason !== 'project',
)

export type UsageInterval = 'day' | 'month'

interface UsageQuery {
  /** The first day (UTC). With months, its whole month counts. */
  readonly from: Date
  /** The last day (UTC). With months, its whole month counts. */
  readonly to: Date
  readonly interval: UsageInterval
  /** The projects; all if left out. */
  readonly projectIds?: readonly string[]
  /** The deleted projects; none if left out. */
  readonly deleted?: DeletedProjects
}

/** What a project used in a day or month (UTC). The day of an event is that of its arrival. */
export interface Usage {
  readonly project: string
  /** The first day of the period, such as `2026-01-31`. */
  readonly start: string
  /** All events that arrived: the sum of the others. */
  readonly accepted: number
  /** Events that count in queries, also if they were deleted later. */
  readonly counted: number
  readonly excluded: {
    readonly bots: number
    readonly addresses: number
    readonly countries: number
  }
  readonly rejected: Readonly<Record<RejectedReason, number>>
  /** Events whose id came before. */
  readonly repeated: number
  /** Events that no load has taken yet. */
  readonly waiting: number
  /** Queries that services have answered. */
  readonly queries: number
  /** About how many bytes the project takes in the stores, as of now: the same in each row of the project. */
  readonly bytes: number
  /** Whether this was used by a project that was deleted, or whose deletion has begun. A later project may have its id. */
  readonly isDeleted: boolean
}

/** One number, as a shard has it. */
interface Part {
  readonly project: string
  readonly start: string
  /** A reason of the table `usage`, or one of OTHER_PARTS. */
  readonly reason: string
  readonly count: number
  readonly isDeleted: boolean
}

const WAITING = 'waiting'
const BYTES = 'bytes'

/** How many projects are read with one statement of each shard. */
const MAX_PROJECTS = 500

/**
 * Reads the usage of projects, from all shards with one statement each for up to 500 projects. A project has a row for each
 * period in which it used anything. Rows are in the order of projects, by id, and periods; those of a deleted project are the last.
 *
 * @throws the errors of a connection: also if one shard does not answer, because the numbers would be too low
 */
export async function readUsage(
  cluster: Cluster,
  { projectIds, deleted = NONE, ...query }: UsageQuery,
): Promise<readonly Usage[]> {
  const { reader } = cluster.home.store
  const found = await (projectIds === undefined
    ? listProjects(reader)
    : listProjectsById(reader, projectIds))
  const all = new Set([...found.map(({ id }) => id), ...deleted.ids])
  const ids = [...all].toSorted()
  const rows: Usage[] = []
  for (let first = 0; first < ids.length; first += MAX_PROJECTS) {
    const some = new Set(ids.slice(first, first + MAX_PROJECTS))
    const page = {
      ...query,
      projects: found.filter(({ id }) => some.has(id)),
      deleted: { ...deleted, ids: deleted.ids.filter((id) => some.has(id)) },
    }
    rows.push(...(await readPage(cluster, page)))
  }
  return rows
}

const NONE: DeletedProjects = { ids: [], orgs: [] }

interface UsagePage extends Omit<UsageQuery, 'projectIds'> {
  readonly projects: readonly StoredProject[]
  readonly deleted: DeletedProjects
}

/** Reads the usage of some projects from all shards. */
async function readPage(
  { home, shards }: Cluster,
  { projects, ...query }: UsagePage,
): Promise<readonly Usage[]> {
  const places = new Map(projects.map(({ id, shards: names }) => [id, names]))
  const livesOn = (project: string, { name }: Shard): boolean => {
    const names = places.get(project) ?? []
    return names.length === 0 ? name === home.name : names.includes(name)
  }
  const page = statement(selectParts({ ...query, ids: [...places.keys()] }))
  const parts = await Promise.all(
    shards.map(async (shard) => {
      const { writer } = shard.store
      const { rows } = await readBetweenLoads(writer, () => writer.query<Part>(page))
      // A shard that a project has left, or is about to get, may have a copy of what another one counts.
      return rows.filter(
        ({ project, reason, isDeleted }) =>
          isDeleted || reason === WAITING || reason === QUERIES || livesOn(project, shard),
      )
    }),
  )
  return sumParts(parts.flat())
}

/** The bytes of a project: its share of the events of the store, of all tables that have rows of projects. */
const selectBytes = (ids: readonly string[]): Sql => sql`
SELECT
  project_id AS project, '' AS start, ${string(BYTES)} AS reason,
  toUInt64(sum(pageviews + events) * (
    SELECT sum(total_bytes) / greatest(1, sumIf(total_rows, name = 'events')) FROM system.tables
    WHERE database = currentDatabase() AND has(${strings(MOVED_TABLES.map(({ name }) => name))}, name))) AS count,
  false AS isDeleted
FROM sessions_monthly AS monthly
WHERE has(${strings(ids)}, project_id) AND dimension = ${string(TOTAL)}
GROUP BY project_id`

interface PageQuery extends Omit<UsagePage, 'projects'> {
  readonly ids: readonly string[]
}

function selectParts({ from, to, interval, ids, deleted }: PageQuery): Sql {
  const isMonth = interval === 'month'
  const first = formatDay(isMonth ? startOfMonth(from) : from)
  const last = formatDay(isMonth ? addDays(startOfMonth(to, 1), -1) : to)
  const isWithin = sql`day BETWEEN toDate(${string(first)}) AND toDate(${string(last)})`
  const start = isMonth ? sql`toString(toStartOfMonth(day))` : sql`toString(day)`
  const isAsked = sql`has(${strings(ids)}, project_id) AND ${isWithin}`
  return sql`
SELECT toString(project_id) AS project, ${start} AS start, toString(reason) AS reason, sum(events) AS count,
  false AS isDeleted
FROM usage WHERE ${isAsked} AND reason != ${string(FORWARDED)}
GROUP BY ALL
UNION ALL
SELECT project_id, ${start}, ${string(WAITING)}, count(), false
FROM (SELECT project_id, toDate(received_at) AS day FROM (${selectWaitingRows(ids)})) WHERE ${isWithin}
GROUP BY ALL
UNION ALL
SELECT toString(project_id), ${start}, ${string(QUERIES)}, sum(queries), false FROM query_usage WHERE ${isAsked}
GROUP BY ALL
UNION ALL
SELECT project_id, ${start}, toString(reason), sum(events), true
FROM (${selectDeletedUsage(deleted)}) WHERE ${isWithin}
GROUP BY ALL
HAVING sum(events) > 0
UNION ALL
${selectBytes(ids)}`
}

/** Adds up the numbers of all shards. */
function sumParts(parts: readonly Part[]): readonly Usage[] {
  const bytes = new Map<string, number>()
  const periods = new Map<string, Map<string, number>>()
  for (const { project, start, reason, count, isDeleted } of parts) {
    if (reason === BYTES) {
      bytes.set(project, (bytes.get(project) ?? 0) + count)
      continue
    }
    const key = [project, start, ...(isDeleted ? [DELETED] : [])].join('\n')
    const counts = periods.get(key) ?? new Map<string, number>()
    counts.set(reason, (counts.get(reason) ?? 0) + count)
    periods.set(key, counts)
  }
  // A line end sorts before the characters of ids, so that projects stay together.
  return [...periods.keys()].toSorted().map((key) => {
    const [project = '', start = '', deleted] = key.split('\n')
    const isDeleted = deleted === DELETED
    const counts = periods.get(key) ?? new Map<string, number>()
    const size = isDeleted ? 0 : (bytes.get(project) ?? 0)
    return { ...toUsage(project, start, counts, size), isDeleted }
  })
}

const DELETED = 'deleted'

function toUsage(
  project: string,
  start: string,
  counts: ReadonlyMap<string, number>,
  bytes: number,
): Omit<Usage, 'isDeleted'> {
  const count = (reason: string): number => counts.get(reason) ?? 0
  const queries = count(QUERIES)
  const sum = [...counts.values()].reduce((total, one) => total + one, 0)
  return {
    project,
    start,
    accepted: sum - queries,
    counted: count(''),
    excluded: { bots: count('bot'), addresses: count('ip'), countries: count('country') },
    rejected: countRejected(count),
    repeated: count('repeated'),
    waiting: count(WAITING),
    queries,
    bytes,
  }
}

/** Builds the counts of rejected rows. */
export const countRejected = (
  count: (reason: RejectedReason) => number,
): Readonly<Record<RejectedReason, number>> =>
  Object.fromEntries(REJECTED_REASONS.map((reason) => [reason, count(reason)])) as Record<
    RejectedReason,
    number
  >
