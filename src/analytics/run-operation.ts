/** The steps of an operation: it resolves and plans a validated request, reads the rows, and builds the response. */
import { createNonce } from '../model/origin.js'
import { isRollup, type RelationName, WITHOUT_PAIRS } from '../model/relations.js'
import { planQuery, withoutWholeSessions } from './plan/planner.js'
import { checkRows, namePatterns } from './check-rows.js'
import type {
  DatedRequest,
  Dependencies,
  Echo,
  Operation,
  PlanDependencies,
  PlanQuery,
  QueriedProject,
  Resolve,
  Rows,
  StoredResponse,
} from './operation.js'

/** What a request was resolved to, and what was planned for it. */
export interface Prepared<Resolved, Planned> {
  readonly resolved: Resolved
  readonly planned: Planned
}

/** What a request was resolved to, and the part of its response that depends on the data. */
export interface Result<Resolved, Response> {
  readonly resolved: Resolved
  readonly rows: Rows<Response>
}

/**
 * Resolves and plans a validated request, without reading any event.
 *
 * @throws ApiError PLAN_LIMIT_EXCEEDED or VALIDATION_ERROR for a request that is refused, or the error that `firstEventAt` or `readSizes` rejects with
 */
export async function prepare<Body extends DatedRequest, Resolved, Planned>(
  operation: Pick<Operation<Body, Resolved, Planned, never, never>, 'resolve' | 'plan'>,
  request: Body,
  project: QueriedProject,
  dependencies: PlanDependencies,
): Promise<Prepared<Resolved, Planned>> {
  const resolve: Resolve<Body, Resolved> = (...asked) => operation.resolve(...asked)
  const resolved = await resolveNow(resolve, request, project, dependencies)
  const plan = await createPlanner(project, dependencies)
  return { resolved, planned: operation.plan(resolved, plan, request) }
}

/**
 * Resolves a request at the current moment.
 *
 * @throws the error of `resolve`, or the one that `firstEventAt` rejects with
 */
export async function resolveNow<Body extends DatedRequest, Resolved>(
  resolve: Resolve<Body, Resolved>,
  request: Body,
  project: QueriedProject,
  { firstEventAt, now }: Pick<PlanDependencies, 'firstEventAt' | 'now'>,
): Promise<Resolved> {
  const moment = now()
  const first = request.date_range === 'all' ? await firstEventAt(project.id) : null
  return resolve(request, project, first, moment)
}

const isFact = (relation: RelationName): boolean => !isRollup(relation)

/** Creates the function that plans queries about a project, from the relations that may be read and the sizes of the project. */
async function createPlanner(
  project: QueriedProject,
  { listRelations, readSizes, group }: PlanDependencies,
): Promise<PlanQuery> {
  const sizes = await readSizes?.(project.id)
  const listed = listRelations?.() ?? WITHOUT_PAIRS
  const known = group?.isWidening === true ? listed.filter(isFact) : listed
  const isCut = project.keepDays !== null || project.hasCutSessions
  // Without their sessions, events would be missed.
  const allowed = isCut ? withoutWholeSessions(known) : known
  return (query, relations = allowed) => planQuery(query, relations, sizes, group?.width)
}

/**
 * Reads the rows of a response that has been planned.
 *
 * @throws ApiError VALIDATION_ERROR for a response that would be too large or for a pattern that only the store refuses,
 *   INTERNAL_ERROR for rows of another project or request, or the error that `run` rejects with
 */
export async function runPlanned<Body, Resolved, Planned, Stored extends StoredResponse, Response>(
  operation: Operation<Body, Resolved, Planned, Stored, Response>,
  request: Body,
  { id }: Pick<QueriedProject, 'id'>,
  { resolved, planned }: Prepared<Resolved, Planned>,
  { group, onPlan, run }: Dependencies,
): Promise<Result<Resolved, Response>> {
  for (const plan of operation.listPlans(planned)) onPlan?.(plan)
  const origin = { projectId: id, nonce: createNonce() }
  const stored = await operation
    .read(planned, { nonce: origin.nonce, group, run: checkRows(run, origin) })
    .catch((error: unknown) => {
      throw namePatterns(error, operation.listPatternFields(request))
    })
  return { resolved, rows: operation.shape(request, resolved, stored) }
}

/** Builds the response to a request from the result of the same, or of another one with the same rows. */
export const buildResponse = <Body, Resolved, Response>(
  operation: Pick<Operation<Body, Resolved, never, never, Response>, 'echo'>,
  request: Body,
  { resolved, rows }: Result<Resolved, Response>,
): Echo<Response> & Rows<Response> => ({ ...operation.echo(request, resolved), ...rows })
