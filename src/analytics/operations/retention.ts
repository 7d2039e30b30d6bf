/** The operation `retention`: how many users of each cohort come back. */
import type { Cohort, RetentionRequest, RetentionResponse } from '../../contract/api.js'
import { GRANULARITIES } from '../../model/granularities.js'
import { describePlan } from '../plan/plan.js'
import { listPatternFields } from '../request/filter-limits.js'
import { parseFilters } from '../request/filters.js'
import { formatMoment, formatPeriod, getInclusiveEnd } from '../request/period.js'
import {
  findReadEnds,
  hasBegun,
  resolveRetention,
  type Grid,
  type ProjectGrid,
} from '../retention/grid.js'
import {
  listRetentionPlans,
  planRetention,
  type RetentionPlan,
} from '../retention/plan-retention.js'
import { RETENTION_RULES } from '../retention/rules.js'
import { buildRetentionStatement, type CohortRow } from '../retention/statement.js'
import type { Operation } from '../operation.js'
import { createTable, writePeriod, type SourceColumn } from '../table.js'

export const RETENTION: Operation<
  RetentionRequest,
  ProjectGrid,
  // Undefined if the whole table lies ahead.
  RetentionPlan | undefined,
  { readonly rows: readonly CohortRow[] },
  RetentionResponse
> = {
  name: 'retention',
  path: '/v1/analytics/retention',
  scope: 'read',
  hint: 'Answers whether users come back. The filters are those of `query`, and described there.',
  rules: RETENTION_RULES,
  resolve: resolveRetention,
  plan: planRetention,
  listPlans: (planned) => (planned === undefined ? [] : listRetentionPlans(planned)),
  read: async (planned, { nonce, group, run }) =>
    planned === undefined
      ? { rows: [] }
      : run<CohortRow>(buildRetentionStatement(planned, nonce, group)),
  shape: (_request, grid, { rows }) => ({ data: shapeCohorts(grid, rows) }),
  echo: ({ interval, date_range, filters, filtersOperator }, { period, intervals }) => ({
    period: formatPeriod(period),
    query: { interval, date_range, intervals, filters, filtersOperator },
  }),
  toTable: ({ period, data }) => {
    const cells = data.flatMap(listCells)
    return createTable(COLUMNS, [cells], {
      period: writePeriod(period),
      total: String(cells.length),
    })
  },
  listPatternFields: ({ filters }) => listPatternFields(filters),
  nameRows: (request, grid, writeEnd) => {
    const { granularity, period, firstCohort, lastCohort, intervals, end } = grid
    // Rows also depend on which intervals have begun: the others are null.
    const running = GRANULARITIES[granularity].toBucket(getInclusiveEnd({ ...period, end }))
    return [
      granularity,
      period.start.getTime(),
      [firstCohort, lastCohort, intervals],
      Math.min(running, lastCohort + intervals),
      findReadEnds(grid).map(writeEnd),
      parseFilters(request),
    ]
  },
  listEnds: (_request, grid) => findReadEnds(grid),
  explained: {
    name: 'explain_retention',
    path: '/v1/analytics/retention/explain',
    describe: (planned) =>
      planned === undefined
        ? {}
        : {
            cohorts: describePlan(planned.cohorts),
            ...(planned.later === undefined ? {} : { later: describePlan(planned.later) }),
          },
    buildStatement: (planned, nonce, group) =>
      planned && buildRetentionStatement(planned, nonce, group),
  },
}

function shapeCohorts(grid: Grid, rows: readonly CohortRow[]): readonly Cohort[] {
  const { firstCohort, lastCohort } = grid
  const counts = new Map(rows.map((row) => [row.group_key, row.counts]))
  return Array.from({ length: lastCohort - firstCohort + 1 }, (_, i) =>
    shapeCohort(grid, firstCohort + i, counts.get(firstCohort + i) ?? []),
  )
}

/** Shapes a cohort. What lies ahead is null. */
function shapeCohort(grid: Grid, cohort: number, counts: readonly number[]): Cohort {
  const read = (k: number): number | null => (hasBegun(grid, cohort + k) ? (counts[k] ?? 0) : null)
  return {
    start: formatMoment(GRANULARITIES[grid.granularity].toStart(cohort)),
    size: read(0),
    counts: Array.from({ length: grid.intervals }, (_, i) => read(i + 1)),
  }
}

/** A row of the table. */
interface Cell {
  readonly start: string
  readonly size: number | null
  /** How many intervals after the one of the cohort. */
  readonly interval: number
  readonly users: number | null
}

/** Lists a row for each interval from the cohort's own on, in which its users are its size. */
const listCells = ({ start, size, counts }: Cohort): readonly Cell[] =>
  [size, ...counts].map((users, interval) => ({ start, size, interval, users }))

const COLUMNS: readonly SourceColumn<Cell>[] = [
  { name: 'cohort', type: 'text', read: ({ start }) => start },
  { name: 'size', type: 'integer', read: ({ size }) => size },
  { name: 'interval', type: 'integer', read: ({ interval }) => interval },
  { name: 'users', type: 'integer', read: ({ users }) => users },
]
