/** The grid of a retention table: its cohorts, and the intervals that follow each. */
import type { FieldError, RetentionRequest } from '../../contract/api.js'
import { createValidationError } from '../../contract/errors.js'
import { addMs, SECOND_MS, startOfSecond } from '../../lib/time.js'
import { GRANULARITIES } from '../../model/granularities.js'
import { numberBuckets } from '../request/buckets.js'
import type { Resolve } from '../operation.js'
import type { Period } from '../request/period.js'
import { resolveAllowedPeriod } from '../request/allowed-period.js'

/** The cohorts are numbered as the buckets of a time series are. */
export interface Grid {
  readonly granularity: RetentionRequest['interval']
  /** The period in which the first events of the cohorts lie. */
  readonly period: Period
  readonly firstCohort: number
  readonly lastCohort: number
  /** How many intervals after its own are counted for each cohort. */
  readonly intervals: number
  /** The end of the current second: what lies ahead of it is not counted. */
  readonly end: Date
}

/** The grid of a project's table. */
export type ProjectGrid = Grid & { readonly projectId: string }

/** How many counts a table may have: cohorts multiplied by the intervals after each. */
export const MAX_COUNTS = 10_000

/**
 * Resolves a validated request to its grid.
 *
 * @throws ApiError PLAN_LIMIT_EXCEEDED, or VALIDATION_ERROR if it has too many counts
 */
export const resolveRetention: Resolve<RetentionRequest, ProjectGrid> = (
  request,
  project,
  first,
  now,
) => ({
  ...resolveGrid(request, resolveAllowedPeriod(request, project, first, now), now),
  projectId: project.id,
})

/** The parts of a request that decide the size of its grid. */
type Sized = Pick<RetentionRequest, 'interval' | 'intervals'>

/**
 * Resolves the grid of a request.
 *
 * @throws ApiError VALIDATION_ERROR if it has too many counts
 */
function resolveGrid(request: Sized, period: Period, now: Date): Grid {
  const errors = checkGridSize(request, period)
  if (errors.length > 0) throw createValidationError(errors)
  const [firstCohort, lastCohort] = numberBuckets(request.interval, period)
  return {
    granularity: request.interval,
    period,
    firstCohort,
    lastCohort,
    intervals: countIntervals(request, lastCohort - firstCohort + 1),
    end: addMs(startOfSecond(now), SECOND_MS),
  }
}

/** Checks that the grid of a request does not have too many counts. */
export function checkGridSize(request: Sized, period: Period): readonly FieldError[] {
  const [first, last] = numberBuckets(request.interval, period)
  const cohorts = last - first + 1
  const intervals = countIntervals(request, cohorts)
  if (cohorts * intervals <= MAX_COUNTS) return []
  const message = `makes ${cohorts} cohorts with ${intervals} intervals each, and a table may have at most ${MAX_COUNTS} counts: choose a larger interval, fewer intervals or a shorter date_range`
  return [{ field: 'interval', message }]
}

/** By default as many intervals as follow the first cohort within the period, and at least one. */
const countIntervals = ({ intervals }: Sized, cohorts: number): number =>
  intervals ?? Math.max(1, cohorts - 1)

/** Returns the end of what is read for the cohorts, and the end of what is read in all. Nothing lies after the current second. */
export function findReadEnds(grid: Grid): readonly [cohorts: Date, all: Date] {
  const { granularity, period, intervals, end } = grid
  const cohorts = getEarlier(period.end, end)
  const [, lastCohort] = numberBuckets(granularity, { start: period.start, end: cohorts })
  const all = GRANULARITIES[granularity].toStart(lastCohort + intervals + 1)
  return [cohorts, getEarlier(all, end)]
}

const getEarlier = (one: Date, other: Date): Date => (one < other ? one : other)

/** Whether an interval has begun. */
export const hasBegun = ({ granularity, end }: Grid, bucket: number): boolean =>
  GRANULARITIES[granularity].toStart(bucket) < end
