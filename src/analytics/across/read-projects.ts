/** Reads the rows of a query about projects: with one statement for those that live on the same shards, if possible. */
import { createNonce, requireOriginAmong } from '../../model/origin.js'
import { isRollup, type RelationName, WITHOUT_PAIRS } from '../../model/relations.js'
import type { QueriedProject, RunMarked } from '../operation.js'
import { listTerms } from '../plan/coverage.js'
import type { Plan } from '../plan/plan.js'
import { planQuery, planWithOthers, withoutWholeSessions } from '../plan/planner.js'
import type { Query } from '../request/query.js'
import type { StoredRow } from '../response.js'
import { buildProjectsStatement } from '../sql/projects-statement.js'
import type { ShardGroup } from '../sql/shards.js'
import type { ProjectIds } from './resolve.js'

/** The data of projects that live on the same shards. */
export interface ShardsData {
  /** The shards that statements read; undefined if they read the one that runs them. */
  readonly group: ShardGroup | undefined
  /** Runs a statement; rejects with an ApiError. */
  readonly run: RunMarked
  /** Returns the relations that may be read, the cheapest first; all but those of pairs by default. */
  readonly listRelations?: (() => readonly RelationName[]) | undefined
  /** Reads the moment of the first event of any of these projects; null without events. Called only for the date range `all`. */
  readonly firstEventAt: (projectIds: readonly string[]) => Promise<Date | null>
}

/** The dependencies of answering. */
export interface AcrossDependencies {
  readonly now: () => Date
  /** Opens the data of projects that live on the same shards. Called once for these. */
  readonly openData: (projects: readonly QueriedProject[]) => ShardsData | Promise<ShardsData>
  /** Called with each plan before it is run. */
  readonly onPlan?: ((plan: Plan) => void) | undefined
}

/** Some projects on the same shards. */
export interface Neighbours {
  readonly data: ShardsData
  readonly projects: readonly QueriedProject[]
}

/** Finds the projects that live on the same shards. Those that are being widened are alone: each has its own departed users. */
export async function findNeighbours(
  projects: readonly QueriedProject[],
  { openData }: AcrossDependencies,
): Promise<readonly Neighbours[]> {
  const sets = new Map<string, QueriedProject[]>()
  for (const project of projects) {
    const { id, shards, isWidening } = project
    const place = JSON.stringify(isWidening ? [shards, id] : [shards])
    const set = sets.get(place) ?? []
    if (set.length === 0) sets.set(place, set)
    set.push(project)
  }
  return Promise.all(
    [...sets.values()].map(async (set) => ({ data: await openData(set), projects: set })),
  )
}

/** The rows of a query. */
export interface QueryRows {
  readonly query: Query
  readonly rows: readonly StoredRow[]
}

/** Builds the query about some of the projects. */
export type ToQuery = (projectIds: ProjectIds) => Query

/** Reads the rows of all projects. Shards are read at the same time. */
export async function readNeighbours(
  neighbours: readonly Neighbours[],
  toQuery: ToQuery,
  { onPlan }: AcrossDependencies,
): Promise<readonly QueryRows[]> {
  const answers = await Promise.all(
    neighbours.map(async ({ data, projects }) => {
      const own: QueryRows[] = []
      for (const plan of planParts(data, projects, toQuery)) {
        onPlan?.(plan)
        own.push(await runPart(data, plan))
      }
      return own
    }),
  )
  return answers.flat()
}

async function runPart({ group, run }: ShardsData, plan: Plan): Promise<QueryRows> {
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
  { group, listRelations }: ShardsData,
  projects: readonly QueriedProject[],
  toQuery: ToQuery,
): readonly Plan[] {
  const known = listRelations?.() ?? WITHOUT_PAIRS
  const allowed = group?.isWidening === true ? known.filter((name) => !isRollup(name)) : known
  const plan = (ids: ProjectIds): Plan => planProjects(toQuery(ids), allowed, group)
  const most = group === undefined ? projects.length : MAX_WIDE_PROJECTS
  const parts = split(projects, most).map((part) => ({ part, planned: plan(listIds(part)) }))
  return parts.flatMap(({ part, planned }) => {
    const cut = readsVisits(planned) ? part.filter(isCut) : []
    if (cut.length === 0 || part.length === 1) return [planned]
    const others = part.filter((project) => !isCut(project))
    return [...split(others, most), ...split(cut, 1)].map((some) => plan(listIds(some)))
  })
}

/** Whether there may be events whose session is no longer stored. */
const isCut = ({ keepDays, hasCutSessions }: QueriedProject): boolean =>
  keepDays !== null || hasCutSessions

/**
 * Whether a plan looks for other events of a session. It reads these from the start of the earliest session on, of all projects; of a
 * session that is not stored, it must read only those within the period.
 */
const readsVisits = ({ query }: Plan): boolean =>
  listTerms(query.predicate).some(({ kind }) => kind === 'visit')

/** Plans a query about several projects, whose sizes are not asked for. */
function planProjects(
  query: Query,
  relations: readonly RelationName[],
  group: ShardGroup | undefined,
): Plan {
  // Events of sessions that cross an edge are found by the numbers of users and sessions, which other projects have, too.
  const allowed = withoutWholeSessions(relations)
  const plan = planWithOthers(query, (one) => planQuery(one, allowed, undefined, group?.width))
  // Buckets without events are filled in later.
  return query.grouping.kind === 'interval' ? { ...plan, rows: 'one' } : plan
}

type SomeProjects = readonly [QueriedProject, ...QueriedProject[]]

const listIds = ([first, ...others]: SomeProjects): ProjectIds => [
  first.id,
  ...others.map(({ id }) => id),
]

/** Splits projects into parts of a size; the last one may be smaller. */
function split(projects: readonly QueriedProject[], size: number): readonly SomeProjects[] {
  const [first, ...others] = projects.slice(0, size)
  return first === undefined ? [] : [[first, ...others], ...split(projects.slice(size), size)]
}
