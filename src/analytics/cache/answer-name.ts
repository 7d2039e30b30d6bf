/** Names answers: two questions with the same name have the same rows, as long as the data is the same. */
import { GRANULARITIES } from '../../model/granularities.js'
import type { QueriedProject } from '../query-analytics.js'
import { getInclusiveEnd, type Period } from '../request/period.js'
import type { Query, Series } from '../request/query.js'

/** What is known about a version of a project's data. It is learnt while questions are answered. */
export interface ProjectFacts {
  /** The moment of the first event; null without events. Undefined while it is unknown. */
  firstEventAt?: Date | null
  /** No event lies at this moment or later; undefined while no such moment is known. */
  emptyFrom?: Date
}

/** Whether it is known that no event lies at a moment or later. */
export const isEmptyFrom = ({ emptyFrom }: ProjectFacts, moment: Date): boolean =>
  emptyFrom !== undefined && emptyFrom <= moment

/** Lists the names that the answer to a query may have, whatever is known about the data. */
export const listNames = (
  project: QueriedProject,
  query: Query,
  readsRollups: boolean,
): readonly string[] =>
  [{}, { emptyFrom: query.period.end }].map((facts) =>
    nameAnswer(project, query, facts, readsRollups),
  )

/**
 * Names the answer to a query. It depends neither on how the question was put nor on the moments after the last event:
 * a period that ends now has the same answer until there is another bucket, or another event. If it is compared with a period
 * that moves with it, that one has other events every second.
 *
 * @param readsRollups whether the answer may come from the rollups
 */
export function nameAnswer(
  project: QueriedProject,
  { projectId, period, compared, ...query }: Query,
  facts: ProjectFacts,
  readsRollups: boolean,
): string {
  const { grouping } = query
  return JSON.stringify([
    projectId,
    // A later project may have the same id.
    project.createdAt.getTime(),
    readsRollups,
    period.start.getTime(),
    isEmptyFrom(facts, period.end) ? 'open' : period.end.getTime(),
    grouping.kind === 'interval' ? nameLastBucket(grouping, period) : null,
    compared === undefined ? null : [compared.period.start, compared.period.end],
    // The starts of buckets follow from the rest.
    { ...query, grouping: grouping.kind === 'interval' ? nameSeries(grouping) : grouping },
  ])
}

const nameLastBucket = ({ granularity, zoned }: Series, period: Period): number | undefined =>
  zoned === undefined
    ? GRANULARITIES[granularity].toBucket(getInclusiveEnd(period))
    : zoned.starts.at(-1)

const nameSeries = ({ zoned, ...series }: Series): object =>
  zoned === undefined ? series : { ...series, zone: zoned.zone }
