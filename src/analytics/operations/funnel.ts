/** The operation `funnel`: how many users go through some steps, one after the other. */
import type { FunnelRequest, FunnelResponse, FunnelStepResult } from '../../contract/api.js'
import { WITHOUT_PAIRS } from '../../model/relations.js'
import { findTooDeepFilterOfFunnel, FUNNEL_RULES, listFunnelFilters } from '../funnel/rules.js'
import { buildFunnelStatement, type Funnel, type FunnelRow } from '../funnel/statement.js'
import { canServe } from '../plan/coverage.js'
import { describePlan, type Plan, type RejectedRelation } from '../plan/plan.js'
import { resolveFilteredQuery } from '../request/derived-queries.js'
import { listPlacedPatternFields } from '../request/filter-limits.js'
import { parseFilters, type Predicate } from '../request/filters.js'
import { formatPeriod } from '../request/period.js'
import type { Query } from '../request/query.js'
import { resolveAllowedPeriod } from '../request/allowed-period.js'
import type { Operation, PlanQuery } from '../operation.js'
import { nameQuery } from './query.js'
import { createTable, writePeriod, type SourceColumn } from '../table.js'

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

export const FUNNEL: Operation<
  FunnelRequest,
  Query,
  Funnel,
  { readonly rows: readonly FunnelRow[] },
  FunnelResponse
> = {
  name: 'funnel',
  path: '/v1/analytics/funnel',
  scope: 'read',
  hint: 'Answers how many users get from one step to the next. The filters are those of `query`, and described there.',
  hasTimeZone: true,
  rules: FUNNEL_RULES,
  findTooDeep: findTooDeepFilterOfFunnel,
  // The query is for the events that all steps look at.
  resolve: (request, project, first, now) =>
    resolveFilteredQuery(
      request,
      { metrics: ['users'], group_by: [] },
      project.id,
      resolveAllowedPeriod(request, project, first, now),
    ),
  plan: (query, plan, request) => ({
    plan: planOrderedEvents(query, plan),
    steps: parseSteps(request),
    within: request.within,
  }),
  listPlans: ({ plan }) => [plan],
  read: (funnel, { nonce, group, run }) =>
    run<FunnelRow>(buildFunnelStatement(funnel, nonce, group)),
  shape: ({ steps }, _query, { rows: [row] }) => ({ data: shapeSteps(steps.length, row) }),
  echo: ({ date_range, steps, within, filters, filtersOperator, time_zone }, { period }) => ({
    period: formatPeriod(period),
    query: {
      date_range,
      steps,
      within,
      filters,
      filtersOperator,
      ...(time_zone === undefined ? {} : { time_zone }),
    },
  }),
  toTable: ({ period, data }) =>
    createTable(COLUMNS, [data], { period: writePeriod(period), total: String(data.length) }),
  listPatternFields: (request) => listPlacedPatternFields(listFunnelFilters(request)),
  nameRows: (request, query, writeEnd) => [
    request.within,
    parseSteps(request),
    ...nameQuery(query, writeEnd),
  ],
  listEnds: (_request, { period }) => [period.end],
  explained: {
    name: 'explain_funnel',
    path: '/v1/analytics/funnel/explain',
    describe: ({ plan }) => describePlan(plan),
    buildStatement: buildFunnelStatement,
  },
}

const parseSteps = ({ steps, time_zone }: FunnelRequest): readonly Predicate[] =>
  steps.map((step) => parseFilters({ ...step, time_zone }))

function shapeSteps(
  steps: number,
  { users = [], medians = [] }: Partial<FunnelRow> = {},
): readonly FunnelStepResult[] {
  const count = (i: number): number => users[i] ?? 0
  return Array.from({ length: steps }, (_, i) => ({
    step: i + 1,
    users: count(i),
    share_of_first: computeShare(count(i), count(0)),
    share_of_previous: i === 0 ? null : computeShare(count(i), count(i - 1)),
    median_seconds: count(i) === 0 ? null : toSeconds(medians[i - 1]),
  }))
}

/** Computes a share in per cent, to two decimals; null without a base. */
export const computeShare = (part: number, base: number): number | null =>
  base === 0 ? null : Math.round((10_000 * part) / base) / 100

/** Turns milliseconds into seconds, to two decimals. A median lies at most halfway between two milliseconds. */
const toSeconds = (ms: number | null | undefined): number | null =>
  ms === null || ms === undefined ? null : Math.round(ms / 10) / 100

const COLUMNS: readonly SourceColumn<FunnelStepResult>[] = [
  { name: 'step', type: 'integer', read: ({ step }) => step },
  { name: 'users', type: 'integer', read: ({ users }) => users },
  { name: 'share_of_first', type: 'number', read: ({ share_of_first }) => share_of_first },
  { name: 'share_of_previous', type: 'number', read: ({ share_of_previous }) => share_of_previous },
  { name: 'median_seconds', type: 'number', read: ({ median_seconds }) => median_seconds },
]
