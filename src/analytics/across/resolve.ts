/** Resolves a request across projects: its period, the projects that are refused, and the queries about the others. */
import type { AcrossRequest, RefusedRow } from '../../contract/across-projects.js'
import { ApiError, buildErrorBody, createValidationError } from '../../contract/errors.js'
import type { QueriedProject } from '../operation.js'
import { resolveComparison } from '../request/comparison.js'
import { requireFewBuckets } from '../request/intervals.js'
import { resolvePeriod, type Period } from '../request/period.js'
import { resolveQuery, type Query } from '../request/query.js'
import { checkRetention } from '../request/allowed-period.js'
import { checkSeries, toInterval, toQueryRequest } from './rules.js'

/** The periods of a request. */
export interface Periods {
  readonly period: Period
  readonly compared: Period | undefined
}

/**
 * Resolves the periods of a request. They are the same for all projects: `all` begins with the first event of any of them.
 *
 * @param first the moment of the first event of all projects, null without events; read only for the date range `all`
 * @throws ApiError VALIDATION_ERROR for a comparison with no period, or series of too many buckets
 */
export function resolvePeriods(
  request: AcrossRequest,
  projects: readonly QueriedProject[],
  first: Date | null,
  now: Date,
): Periods {
  const created = projects.map(({ createdAt }) => createdAt.getTime())
  const history = first ?? new Date(Math.min(now.getTime(), ...created))
  const period = resolvePeriod(request.date_range, history, now, request.time_zone)
  const asked = toQueryRequest(request)
  const compared = resolveComparison(asked, period)
  requireFewBuckets(asked, period, compared)
  const errors = checkSeries(request, period, Math.min(request.limit, projects.length))
  if (errors.length > 0) throw createValidationError(errors)
  return { period, compared }
}

/** Returns the row of a project whose query is refused; undefined if it is not. */
export function refuseProject(
  { id, retentionDays }: QueriedProject,
  { period, compared }: Periods,
  now: Date,
): RefusedRow | undefined {
  try {
    checkRetention(period, retentionDays, now)
    if (compared !== undefined) checkRetention(compared, retentionDays, now, 'period of compare')
    return undefined
  } catch (error) {
    if (error instanceof ApiError) return { project: id, ...buildErrorBody(error) }
    throw error
  }
}

/** The ids of some projects: at least one. */
export type ProjectIds = Query['projectIds']

/** Builds the query with a row for each project. */
export function createRowsQuery(
  request: AcrossRequest,
  projectIds: ProjectIds,
  { period, compared }: Periods,
): Query {
  const grouping = { kind: 'project' } as const
  const query = resolveQuery(toQueryRequest(request), projectIds[0], period)
  return {
    ...query,
    projectIds,
    grouping,
    ...(compared === undefined ? {} : { compared: { period: compared, grouping } }),
  }
}

/** Builds the query with a row for each bucket of each project. */
export function createSeriesQuery(
  request: AcrossRequest,
  interval: NonNullable<AcrossRequest['interval']>,
  projectIds: ProjectIds,
  { period }: Periods,
): Query {
  const asked = { ...toQueryRequest(request), group_by: [toInterval(interval)] }
  return {
    ...resolveQuery(asked, projectIds[0], period),
    projectIds,
    thenBy: [{ kind: 'project' }],
  }
}
