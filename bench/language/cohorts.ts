/** Retention and funnels, beside the statements by hand. */
import { isDeepStrictEqual } from 'node:util'
import { buildFunnelStatement } from '../../src/analytics/funnel/statement.js'
import { planQuery } from '../../src/analytics/plan/planner.js'
import { resolveFilteredQuery } from '../../src/analytics/request/derived-queries.js'
import { parseFilters } from '../../src/analytics/request/filters.js'
import { or, sql, statement, uint64, type Sql, type Statement } from '../../src/clickhouse/sql.js'
import type { FunnelRequest, FunnelResponse, RetentionResponse } from '../../src/contract/api.js'
import { SECOND_MS } from '../../src/lib/time.js'
import { LARGE } from '../reads/generate.js'
import { MONTH, YEAR, type BenchPeriod } from '../reads/periods.js'
import type { HandRow, Pair } from './pair.js'
import { selectCohorts, writeEvents } from './statements.js'

/** The cohort, the month and the users of each count that is not 0. */
const listCounts = ({ data }: RetentionResponse): readonly (readonly number[])[] =>
  data.flatMap(({ size, counts }, cohort) =>
    [size, ...counts].flatMap((users, i) =>
      users === null || users === 0 ? [] : [[cohort, cohort + i, users]],
    ),
  )

const RETENTION: Pair = {
  name: 'retention, 12 × 12 months',
  request: {
    path: '/v1/analytics/retention',
    body: JSON.stringify({ interval: 'month', date_range: YEAR.range, intervals: 12 }),
  },
  beside: {
    name: 'by hand',
    ways: [selectCohorts()],
    check: (answer, rows) => {
      const counts = listCounts(JSON.parse(answer) as RetentionResponse)
      const byHand = rows.map((row) => Object.values(row))
      if (!isDeepStrictEqual(counts, byHand)) throw new Error('the cohorts by hand are others')
    },
  },
  target: { ms: 200 },
}

interface Step {
  readonly filters: FunnelRequest['steps'][number]['filters']
  readonly condition: Sql
}
const EVENT: Step = {
  filters: [{ type: 'event', name: { operator: 'startsWith', value: 'event-' } }],
  condition: sql`startsWith(name, 'event-')`,
}
/** A pageview. No event matches two steps: `windowFunnel` would let it complete both. */
const viewPage = (operator: 'eq' | 'startsWith', value: string, condition: Sql): Step => ({
  filters: [
    { type: 'page', path: { operator, value } },
    { type: 'event', name: { operator: 'eq', value: 'pageview' } },
  ],
  condition: sql`(name = 'pageview' AND ${condition})`,
})
const FUNNELS: Readonly<Record<string, readonly Step[]>> = {
  'some pages, others, any event': [
    viewPage('startsWith', '/section/1', sql`startsWith(path, '/section/1')`),
    viewPage('startsWith', '/section/2', sql`startsWith(path, '/section/2')`),
    EVENT,
  ],
  'one page, another, any event': [
    viewPage('eq', '/section/1', sql`path = '/section/1'`),
    viewPage('eq', '/section/2', sql`path = '/section/2'`),
    EVENT,
  ],
}

/** Writes the moment of an event as a number, as `windowFunnel` wants it. */
const MOMENT = sql`toUInt64(toUnixTimestamp64Milli(timestamp))`
/** Visits are shorter. */
const DAY_SECONDS = 86_400

/** Selects the users who complete each of three steps: from all events, and from those that match a step. */
function selectLevels(
  steps: readonly Step[],
  within: FunnelRequest['within'],
  period: BenchPeriod,
): readonly Statement[] {
  const [first, second, third] = steps.map(({ condition }) => condition)
  const window = uint64((within === 'visit' ? DAY_SECONDS : within) * SECOND_MS)
  const level = sql`windowFunnel(${window})(${MOMENT}, ${first!}, ${second!}, ${third!}) AS level`
  const matching = or(steps.map(({ condition }) => condition))
  const inPeriod = writeEvents(period)
  return [inPeriod, sql`${inPeriod} AND ${matching}`].map((events) => {
    const users =
      within === 'visit'
        ? sql`SELECT max(level) AS level FROM (SELECT any(user) AS owner, ${level} FROM ${events} GROUP BY session) GROUP BY owner`
        : sql`SELECT ${level} FROM ${events} GROUP BY user`
    return statement(
      sql`SELECT toInt64(countIf(level >= 1)) AS first, toInt64(countIf(level >= 2)) AS second, toInt64(countIf(level >= 3)) AS third FROM (${users})`,
    )
  })
}

/** `windowFunnel` takes events of the same moment for later ones. There are a few of these. */
const TOLERANCE = 0.001

function checkLevels(answer: string, [row = {}]: readonly HandRow[]): void {
  const users = (JSON.parse(answer) as FunnelResponse).data.map((step) => step.users)
  const byHand = Object.values(row).map(Number)
  const isSame = users.every((count, i) => Math.abs(count - byHand[i]!) <= TOLERANCE * count)
  if (!isSame) throw new Error(`the funnel has ${users.join()} users, by hand ${byHand.join()}`)
  if (!isDeepStrictEqual(users, byHand)) console.error(`${users.join()}, by hand ${byHand.join()}`)
}

const compareFunnel = (
  period: BenchPeriod,
  name: string,
  steps: readonly Step[],
  within: FunnelRequest['within'],
): Pair => ({
  name: `${period.name}, funnel within a ${within === 'visit' ? 'visit' : 'day'}: ${name}`,
  request: {
    path: '/v1/analytics/funnel',
    body: JSON.stringify({
      date_range: period.range,
      steps: steps.map(({ filters }) => ({ filters })),
      within,
    }),
  },
  beside: {
    name: 'by hand, `windowFunnel`',
    ways: selectLevels(steps, within, period),
    check: checkLevels,
  },
  alone: buildStatement(period, steps, within),
  ...(period === MONTH ? { target: { times: 1 } } : {}),
})

/** Builds the statement that the service runs for a funnel. */
function buildStatement(
  { range, start, end }: BenchPeriod,
  steps: readonly Step[],
  within: FunnelRequest['within'],
): Statement {
  const unfiltered = { date_range: range, filters: [], filtersOperator: 'and' } as const
  const asked = { metrics: ['users'], group_by: [] } as const
  const query = resolveFilteredQuery(unfiltered, asked, LARGE, { start, end })
  const predicates = steps.map(({ filters }) => parseFilters({ filters, filtersOperator: 'and' }))
  const plan = planQuery(query, ['events'])
  return buildFunnelStatement({ plan, steps: predicates, within }, 'bench')
}

const FUNNEL_PAIRS: readonly Pair[] = [MONTH, YEAR].flatMap((period) =>
  Object.entries(FUNNELS).flatMap(([name, steps]) =>
    (['visit', DAY_SECONDS] as const).map((within) => compareFunnel(period, name, steps, within)),
  ),
)

export const COHORT_PAIRS: readonly Pair[] = [RETENTION, ...FUNNEL_PAIRS]
