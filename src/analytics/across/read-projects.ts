/** Reads the rows of a query about projects: with one statement for those that live on the same shards, if possible. */
import { createNonce, requireOriginAmong } from '../../model/origin.js'
import { ALL_RELATIONS, isRollup, type RelationName } from '../../model/relations.js'
import type { QueriedProject, RunMarked } from '../operation.js'
import { listTerms } from '../plan/coverage.js'
import { listScans, type Plan } from '../plan/plan.js'
import { planQuery, planWithOthers, withoutWholeSessions } from '../plan/planner.js'
import type { Query } from '../request/query.js'
import type { StoredRow } from '../response.js'
import { buildProjectsStatement } from '../sql/projects-statement.js'
import type { ShardGroup } from '../sql/shards.js'
import { isReadFromSessions } from '../sql/where.js'
import type { ProjectIds } from './resolve.js'

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
export interface Neighbours {
  readonly data: ShardsData
  readonly projects: readonly QueriedProject[]
}

/** Finds the projects that live on the same shards. Those that are being widened are alone: each has its own departed users. */
export function findNeighbours(
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

/** The rows of a query. */
export interface Answer {
  readonly query: Query
  readonly rows: readonly StoredRow[]
}

/** Builds the query about some of the projects. */
export type ToQuery = (projectIds: ProjectIds) => Query

/** Reads the rows of all projects: of those on different shards at the same time. */
export async function readNeighbours(
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
