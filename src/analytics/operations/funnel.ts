/** The operation `funnel`: how many users go through some steps, one after the other. */
import type { FunnelRequest, FunnelResponse, FunnelStepResult } from '../../contract/api.js'
import { findTooDeepFilterOfFunnel, FUNNEL_RULES, listFunnelFilters } from '../funnel/rules.js'
import { buildFunnelStatement, type Funnel, type FunnelRow } from '../funnel/statement.js'
import { describePlan } from '../plan/plan.js'
import { listPlacedPatternFields } from '../request/filter-limits.js'
import { parseFilters, type Predicate } from '../request/filters.js'
import { formatPeriod } from '../request/period.js'
import type { Query } from '../request/query.js'
import type { Operation } from '../operation.js'
import { computeShare, echoFilters, ORDERED_EVENTS, planOrderedEvents } from './ordered-events.js'
import { nameQuery } from './query.js'
import { createTable, writePeriod, type SourceColumn } from '../table.js'

export const FUNNEL: Operation<
  FunnelRequest,
  Query,
  Funnel,
  { readonly rows: readonly FunnelRow[] },
  FunnelResponse
> = {
  ...ORDERED_EVENTS,
  name: 'funnel',
  path: '/v1/analytics/funnel',
  hint: 'Answers how many users get from one step to the next. The filters are those of `query`, and described there.',
  rules: FUNNEL_RULES,
  findTooDeep: findTooDeepFilterOfFunnel,
  plan: (query, plan, request) => ({
    plan: planOrderedEvents(query, plan),
    steps: parseSteps(request),
    within: request.within,
  }),
  read: (funnel, { nonce, group, run }) =>
    run<FunnelRow>(buildFunnelStatement(funnel, nonce, group)),
  shape: ({ steps }, _query, { rows: [row] }) => ({ data: shapeSteps(steps.length, row) }),
  echo: ({ date_range, steps, within, ...rest }, { period }) => ({
    period: formatPeriod(period),
    query: {
      date_range,
      steps,
      within,
      ...echoFilters(rest),
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
