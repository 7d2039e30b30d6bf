/** What the operations on the order of events share: funnels and journeys. */
import { WITHOUT_PAIRS } from '../../model/relations.js'
import type { Operation, PlanQuery, Resolve, StoredResponse } from '../operation.js'
import { canServe } from '../plan/coverage.js'
import type { Plan, RejectedRelation } from '../plan/plan.js'
import { resolveAllowedPeriod } from '../request/allowed-period.js'
import { resolveFilteredQuery } from '../request/derived-queries.js'
import type { Query } from '../request/query.js'

/** The members of a request that every such operation has. */
type Filtered = Parameters<typeof resolveFilteredQuery>[0]

/** Resolves a request to the query for the events that it looks at. */
const resolve: Resolve<Filtered, Query> = (request, project, first, now) =>
  resolveFilteredQuery(
    request,
    { metrics: ['users'], group_by: [] },
    project.id,
    resolveAllowedPeriod(request, project, first, now),
  )

/** What these operations declare alike. */
export const ORDERED_EVENTS = {
  scope: 'read',
  hasTimeZone: true,
  resolve,
  listPlans: ({ plan }) => [plan],
  listEnds: (_request, { period }) => [period.end],
} as const satisfies Partial<
  Operation<Filtered, Query, { readonly plan: Plan }, StoredResponse, object>
>

/** The order of events is known to events alone. */
const SOURCE = 'events'
const REJECTED: readonly RejectedRelation[] = WITHOUT_PAIRS.filter(
  (relation) => relation !== SOURCE && canServe(relation, 'users'),
).map((relation) => ({
  relation,
  measures: ['users'],
  reason: 'it does not know the order of events',
}))

/** Plans a query whose statement needs the order of events. */
export const planOrderedEvents = (query: Query, plan: PlanQuery): Plan => ({
  ...plan(query, [SOURCE]),
  rejected: REJECTED,
})

/** Repeats the filters of a request, and its time zone if it was sent. */
export const echoFilters = ({
  filters,
  filtersOperator,
  time_zone,
}: Omit<Filtered, 'date_range'>): Omit<Filtered, 'date_range'> => ({
  filters,
  filtersOperator,
  ...(time_zone === undefined ? {} : { time_zone }),
})

/** Computes a share in per cent, to two decimals; null without a base. */
export const computeShare = (part: number, base: number): number | null =>
  base === 0 ? null : Math.round((10_000 * part) / base) / 100
