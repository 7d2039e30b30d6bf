/** The operation `journeys`: what visits do after a page or an event, or before it. */
import type {
  FieldError,
  JourneyRow,
  JourneysRequest,
  JourneysResponse,
} from '../../contract/api.js'
import { isRecord } from '../../lib/records.js'
import {
  buildJourneysStatement,
  type Journeys,
  type JourneyStepRow,
} from '../journeys/statement.js'
import { describePlan } from '../plan/plan.js'
import { checkDateRange, checkTimeZone, type Rule } from '../request/cross-field-rules.js'
import {
  checkPlacedFilters,
  findTooDeepFilter,
  listPlacedPatternFields,
} from '../request/filter-limits.js'
import { parseFilters, type Predicate } from '../request/filters.js'
import { formatPeriod } from '../request/period.js'
import type { Query } from '../request/query.js'
import { listFilters, type PlacedFilter } from '../request/walk-filters.js'
import type { Operation } from '../operation.js'
import { computeShare, echoFilters, ORDERED_EVENTS, planOrderedEvents } from './ordered-events.js'
import { nameQuery } from './query.js'
import { createTable, writePeriod, type SourceColumn } from '../table.js'

const RULES: readonly Rule<JourneysRequest>[] = [
  { fields: ['time_zone'], check: checkTimeZone },
  { fields: ['date_range', 'time_zone'], check: checkDateRange },
  { fields: ['from', 'to'], check: checkAnchor },
  {
    fields: ['filters', 'from', 'to'],
    check: (request) => checkPlacedFilters(listAllFilters(request), 'filters'),
  },
]

export const JOURNEYS: Operation<
  JourneysRequest,
  Query,
  Journeys,
  { readonly rows: readonly JourneyStepRow[] },
  JourneysResponse
> = {
  ...ORDERED_EVENTS,
  name: 'journeys',
  path: '/v1/analytics/journeys',
  hint: 'Answers what visitors do next, or what they did before. The filters are those of `query`, and described there.',
  rules: RULES,
  findTooDeep: ({ filters, from, to }) =>
    findTooDeepFilter(filters) ??
    findTooDeepInAnchor(from, 'from') ??
    findTooDeepInAnchor(to, 'to'),
  plan: (query, plan, request) => ({
    plan: planOrderedEvents(query, plan),
    anchor: parseAnchor(request),
    isBackward: request.from === undefined,
    kinds: request.kinds,
    depth: request.depth,
    limit: request.limit,
  }),
  read: (journeys, { nonce, group, run }) =>
    run<JourneyStepRow>(buildJourneysStatement(journeys, nonce, group)),
  shape: (_request, _query, { rows }) => ({ data: shapeSteps(rows) }),
  echo: ({ date_range, from, to, kinds, depth, limit, ...rest }, { period }) => ({
    period: formatPeriod(period),
    query: {
      date_range,
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
      kinds,
      depth,
      limit,
      ...echoFilters(rest),
    },
  }),
  toTable: ({ period, data }) =>
    createTable(COLUMNS, [data], { period: writePeriod(period), total: String(data.length) }),
  listPatternFields: (request) => listPlacedPatternFields(listAllFilters(request)),
  nameRows: (request, query, writeEnd) => [
    request.from === undefined,
    parseAnchor(request),
    [...request.kinds].sort(),
    request.depth,
    request.limit,
    ...nameQuery(query, writeEnd),
  ],
  explained: {
    name: 'explain_journeys',
    path: '/v1/analytics/journeys/explain',
    describe: ({ plan }) => describePlan(plan),
    buildStatement: buildJourneysStatement,
  },
}

type Anchored = Pick<JourneysRequest, 'from' | 'to'>

/** Checks that a request has one anchor. */
function checkAnchor({ from, to }: Anchored): readonly FieldError[] {
  if ((from === undefined) !== (to === undefined)) return []
  const message =
    from === undefined
      ? 'is required, unless `to` is given: a page or an event such as {"filters":[{"field":"page:path","operator":"is","value":["/pricing"]}]}'
      : 'must be left out where `to` is given: journeys lead either from a page or event, or to it'
  return [{ field: 'from', message }]
}

/** Parses the anchor. A validated request has one. */
function parseAnchor({ from, to, time_zone }: JourneysRequest): Predicate {
  const anchor = from ?? to
  if (anchor === undefined) throw new TypeError('a request for journeys has an anchor')
  return parseFilters({ ...anchor, time_zone })
}

/** Lists the filters of a request: its own, and those of its anchor. */
const listAllFilters = ({
  filters,
  from,
  to,
}: Anchored & Pick<JourneysRequest, 'filters'>): readonly PlacedFilter[] => [
  ...listFilters(filters),
  ...listFilters(from?.filters ?? [], 'from.filters'),
  ...listFilters(to?.filters ?? [], 'to.filters'),
]

const findTooDeepInAnchor = (anchor: unknown, field: string): FieldError | undefined =>
  isRecord(anchor) ? findTooDeepFilter(anchor['filters'], `${field}.filters`) : undefined

/** Adds shares. Without visits, the anchor is the only row. */
function shapeSteps(rows: readonly JourneyStepRow[]): readonly JourneyRow[] {
  const [anchor = { step: 0, kind: 'anchor' as const, value: '', visits: 0, users: 0 }, ...steps] =
    rows
  return [anchor, ...steps].map(({ step, kind, value, visits, users }) => ({
    step,
    kind,
    value: kind === 'page' || kind === 'event' ? value : null,
    visits,
    users,
    share_of_visits: computeShare(visits, anchor.visits),
  }))
}

const COLUMNS: readonly SourceColumn<JourneyRow>[] = [
  { name: 'step', type: 'integer', read: ({ step }) => step },
  { name: 'kind', type: 'text', read: ({ kind }) => kind },
  { name: 'value', type: 'text', read: ({ value }) => value },
  { name: 'visits', type: 'integer', read: ({ visits }) => visits },
  { name: 'users', type: 'integer', read: ({ users }) => users },
  { name: 'share_of_visits', type: 'number', read: ({ share_of_visits }) => share_of_visits },
]
