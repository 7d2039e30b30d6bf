/** Answers a query about many projects: a row for each, which is that of the query about the project alone. */
import type { AcrossRequest, AcrossResponse, AcrossRow } from '../../contract/across-projects.js'
import { createNonce, requireOriginAmong } from '../../model/origin.js'
import { ALL_RELATIONS, isRollup, type RelationName } from '../../model/relations.js'
import { namePatterns } from '../check-rows.js'
import type { QueriedProject, RunMarked } from '../operation.js'
import type { Plan } from '../plan/plan.js'
import { listScans } from '../plan/plan.js'
import { listTerms } from '../plan/coverage.js'
import { planQuery, planWithOthers, withoutWholeSessions } from '../plan/planner.js'
import { listPatternFields } from '../request/filter-limits.js'
import { formatPeriod } from '../request/period.js'
import type { Query } from '../request/query.js'
import type { StoredRow } from '../response.js'
import { buildProjectsStatement } from '../sql/projects-statement.js'
import type { ShardGroup } from '../sql/shards.js'
import { isReadFromSessions } from '../sql/where.js'
import {
  createRowsQuery,
  createSeriesQuery,
  refuseProject,
  resolvePeriods,
  type ProjectIds,
} from './resolve.js'
import { orderProjects, shapeProject, shapeSeries } from './rows.js'

/** The data of projects that live on the same shards. */
export interface ShardsData {
  /** The shards that statements read; undefined if they read the one that runs them. */
  readonly group: ShardGroup | undefined
  /** Runs a statement; rejects with an ApiError. */
  readonly run: RunMarked
  /** Returns the relations that may be read, the cheapest first; all by default. */
  readonly listRelations?: (() => readonly RelationName[]) | undefined
  /** Reads the moment of the first event of any of these projects; null without events. Called only for the date range `all`. */
  readonly firstEventAt: (projectIds: readonly string[]) => Promise<Date | null>
}

/** The dependencies of answering. */
export interface AcrossDependencies {
  readonly now: () => Date
  /** Opens the data of a project, and of all others that live on the same shards. Called once for these. */
  readonly openData: (project: QueriedProject) => ShardsData
  /** Called with each plan before it is run. */
  readonly onPlan?: ((plan: Plan) => void) | undefined
}

/** Some projects on the same shards. */
interface Neighbours {
  readonly data: ShardsData
  readonly projects: readonly QueriedProject[]
}

/**
 * Answers a validated request about projects, with one statement for those on the same shards, and another one for their series. A
 * project whose query is refused has a row that says why.
 *
 * @param projects those of the request, each once
 * @throws ApiError VALIDATION_ERROR for a response that would be too large or for a pattern that only the store refuses,
 *   INTERNAL_ERROR for rows of another project or request, or what `openData`, `run` and `firstEventAt` throw
 */
export async function runAcrossProjects(
  request: AcrossRequest,
  projects: readonly QueriedProject[],
  dependencies: AcrossDependencies,
): Promise<AcrossResponse> {
  const now = dependencies.now()
  const neighbours = findNeighbours(projects, dependencies)
  const first = request.date_range === 'all' ? await findFirstEvent(neighbours) : null
  const periods = resolvePeriods(request, projects, first, now)
  const refused = projects.flatMap((project) => refuseProject(project, periods, now) ?? [])
  const isRefused = new Set(refused.map(({ project }) => project))

  const read = async (
    isMeant: (id: string) => boolean,
    toQuery: (projectIds: ProjectIds) => Query,
  ): Promise<readonly Answer[]> => {
    const some = neighbours.map(({ data, projects: own }) => ({
      data,
      projects: own.filter(({ id }) => isMeant(id)),
    }))
    return readNeighbours(some, toQuery, dependencies).catch((error: unknown) => {
      throw namePatterns(error, listPatternFields(request.filters))
    })
  }
  const answers = await read(
    (id) => !isRefused.has(id),
    (ids) => createRowsQuery(request, ids, periods),
  )
  const rows = answers.flatMap(({ query, rows: own }) => own.map((row) => shapeProject(query, row)))
  const { metrics } = createRowsQuery(request, [''], periods)
  const ordered = [
    ...orderProjects(rows, request, { metrics }),
    ...refused.toSorted((one, other) => (one.project < other.project ? -1 : 1)),
  ]
  const page = ordered.slice(request.offset, request.offset + request.limit)
  const { interval } = request
  const data =
    interval === undefined
      ? page
      : await addSeries(page, (isMeant) =>
          read(isMeant, (ids) => createSeriesQuery(request, interval, ids, periods)),
        )

  const { projects: _projects, org: _org, ...same } = request
  return {
    period: formatPeriod(periods.period),
    query: { ...same, metrics },
    ...(periods.compared === undefined
      ? {}
      : { comparison: { period: formatPeriod(periods.compared) } }),
    pagination: {
      limit: request.limit,
      offset: request.offset,
      returned: data.length,
      total: projects.length,
    },
    data,
  }
}

/** Finds the projects that live on the same shards. Those that are being widened are alone: each has its own departed users. */
function findNeighbours(
  projects: readonly QueriedProject[],
  { openData }: AcrossDependencies,
): readonly Neighbours[] {
  const sets = new Map<string, QueriedProject[]>()
  for (const project of projects) {
    const { id, shards, isWidening } = project
    const place = JSON.stringify(isWidening ? [shards, id] : [shards])
    const set = sets.get(place) ?? []
    if (set.length === 0) sets.set(place, set)
    set.push(project)
  }
  return [...sets.values()].flatMap((set) => {
    const [first] = set
    return first === undefined ? [] : [{ data: openData(first), projects: set }]
  })
}

async function findFirstEvent(neighbours: readonly Neighbours[]): Promise<Date | null> {
  const found = await Promise.all(
    neighbours.map(({ data, projects }) => data.firstEventAt(projects.map(({ id }) => id))),
  )
  const moments = found.flatMap((moment) => (moment === null ? [] : [moment.getTime()]))
  return moments.length === 0 ? null : new Date(Math.min(...moments))
}

/** The rows of a query. */
interface Answer {
  readonly query: Query
  readonly rows: readonly StoredRow[]
}

type ToQuery = (projectIds: ProjectIds) => Query

/** Reads the rows of all projects: of those on different shards at the same time. */
async function readNeighbours(
  neighbours: readonly Neighbours[],
  toQuery: ToQuery,
  { onPlan }: AcrossDependencies,
): Promise<readonly Answer[]> {
  const answers = await Promise.all(
    neighbours.map(async ({ data, projects }) => {
      const own: Answer[] = []
      for (const plan of planParts(data, projects, toQuery)) {
        onPlan?.(plan)
        own.push(await runPart(data, plan))
      }
      return own
    }),
  )
  return answers.flat()
}

async function runPart({ group, run }: ShardsData, plan: Plan): Promise<Answer> {
  const { query } = plan
  const nonce = createNonce()
  const { rows } = await run<StoredRow>(buildProjectsStatement(plan, nonce, group))
  requireOriginAmong(rows, new Set(query.projectIds), nonce)
  return { query, rows }
}

/** How many projects a statement across shards names: it is sent to each of them as one text, with the ids in every part. */
const MAX_WIDE_PROJECTS = 100

/** Plans the statements about projects that live on the same shards: one, if possible. */
function planParts(
  data: ShardsData,
  projects: readonly QueriedProject[],
  toQuery: ToQuery,
): readonly Plan[] {
  const [first, ...others] = projects.map(({ id }) => id)
  if (first === undefined) return []
  const { group, listRelations } = data
  const known = listRelations?.() ?? ALL_RELATIONS
  const allowed = group?.isWidening === true ? known.filter((name) => !isRollup(name)) : known
  const plan = (ids: ProjectIds): Plan => planProjects(toQuery(ids), allowed, group)
  const whole = plan([first, ...others])
  const most = selectsSessions(whole) ? 1 : group === undefined ? Infinity : MAX_WIDE_PROJECTS
  return others.length < most ? [whole] : split([first, ...others], most).map(plan)
}

/** Plans a query about several projects, whose sizes are not asked for. */
function planProjects(
  query: Query,
  relations: readonly RelationName[],
  group: ShardGroup | undefined,
): Plan {
  // Sessions of different projects may have the same number, so those that cross an edge could not be told apart.
  const allowed = withoutWholeSessions(relations)
  const plan = planWithOthers(query, (one) => planQuery(one, allowed, undefined, group?.width))
  // Buckets without events are filled in later.
  return query.grouping.kind === 'interval' ? { ...plan, rows: 'one' } : plan
}

/**
 * Whether a plan selects sessions by their numbers, which are those of other sessions in another project. Then each project is
 * asked about on its own.
 */
const selectsSessions = (plan: Plan): boolean =>
  listTerms(plan.query.predicate).some(isReadFromSessions) ||
  [plan, ...(plan.comparison === undefined ? [] : [plan.comparison])].some((one) =>
    listScans(one).some(({ filteredBy }) => filteredBy === 'events'),
  )

function split(ids: ProjectIds, size: number): readonly ProjectIds[] {
  const parts: ProjectIds[] = []
  for (let i = 0; i < ids.length; i += size) {
    const [first, ...others] = ids.slice(i, i + size)
    if (first !== undefined) parts.push([first, ...others])
  }
  return parts
}

type ResponseRow = AcrossResponse['data'][number]

const isAnswered = (row: ResponseRow): row is AcrossRow => 'metrics' in row

/** Adds the series to the rows of a page. */
async function addSeries(
  page: readonly ResponseRow[],
  read: (isMeant: (id: string) => boolean) => Promise<readonly Answer[]>,
): Promise<readonly ResponseRow[]> {
  const ids = new Set(page.filter(isAnswered).map(({ project }) => project))
  const answers = await read((id) => ids.has(id))
  const series = new Map(answers.flatMap(({ query, rows }) => [...shapeSeries(query, rows)]))
  return page.map((row) =>
    isAnswered(row) ? { ...row, series: series.get(row.project) ?? [] } : row,
  )
}
