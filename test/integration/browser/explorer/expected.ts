/** What the parts of the page must show, computed from answers of the API alone. */
import type {
  AnalyticsQueryResponse,
  FunnelResponse,
  JourneysResponse,
  RetentionResponse,
} from '../../../../src/contract/api.js'
import { DAY_MS } from '../../../../src/lib/time.js'
import type { ShownPart, ShownRow } from './explorer-page.js'

/** The rows of a part without the texts of those that depend on a language. */
export type ExpectedRow = Pick<ShownRow, 'about' | 'values'>

type Numbers = Readonly<Record<string, number | null>>

/** Computes the rows of a part whose query has this answer. */
export function expectRows({ name, query }: ShownPart, answer: unknown): readonly ExpectedRow[] {
  if ('interval' in query) return expectCohorts(answer as RetentionResponse)
  if ('steps' in query) return expectSteps(answer as FunnelResponse)
  if ('from' in query || 'to' in query) return expectJourneys(answer as JourneysResponse)
  const response = answer as AnalyticsQueryResponse
  if (name === 'cards' || name === 'numbers') return expectCards(response)
  if (name === 'chart') return expectBuckets(response)
  const { group_by } = response.query
  return group_by.length === 0 ? expectNewUsers(response) : expectGroups(name, response)
}

/** The names of metrics, as rows have them. */
const listNames = ({ metrics }: AnalyticsQueryResponse['query']): readonly string[] =>
  metrics.map((metric) => (typeof metric === 'string' ? metric : metric.as))

function expectCards({ query, data: [row] }: AnalyticsQueryResponse): readonly ExpectedRow[] {
  return listNames(query).map((metric) => ({
    about: metric,
    values: [row!.metrics[metric] ?? null, row!.comparison?.change[metric] ?? null],
  }))
}

function expectBuckets({
  query,
  data,
  period,
  comparison: other,
}: AnalyticsQueryResponse): readonly ExpectedRow[] {
  const [metric] = listNames(query)
  const read = (numbers: Numbers | undefined): number | null => numbers?.[metric!] ?? null
  const ends = [period, other?.period ?? period].map((one) => countCut(one, query.interval))
  // Three days of a week have no change from five.
  const isUneven = (i: number): boolean =>
    (i === 0 && ends[0]![0] !== ends[1]![0]) ||
    (i === data.length - 1 && ends[0]![1] !== ends[1]![1])
  return data.map(({ group, metrics: values, comparison }, i) => ({
    about: group['date']!,
    values: [
      read(values),
      ...(other === undefined
        ? []
        : [read(comparison?.metrics), isUneven(i) ? null : read(comparison?.change)]),
    ],
  }))
}

/** How many days of its first and its last bucket a period has, if not all; else 0. */
function countCut(
  { from, to }: AnalyticsQueryResponse['period'],
  interval: string | undefined,
): readonly [first: number, last: number] {
  const dayOf = (moment: string): Date => new Date(`${moment.slice(0, 10)}T00:00:00Z`)
  const count = (start: Date, end: Date): number => (end.getTime() - start.getTime()) / DAY_MS
  const [first, after] = [dayOf(from), new Date(dayOf(to).getTime() + DAY_MS)]
  const isWhole = count(startOf(first, interval), first) === 0
  return [
    isWhole ? 0 : count(first, startOf(first, interval, 1)),
    count(startOf(after, interval), after),
  ]
}

const MONTHS: Readonly<Record<string, number>> = { month: 1, quarter: 3, year: 12 }

/** The first day of the bucket of a day, or of one that is so many after it. Buckets that are not longer than a day begin with it. */
function startOf(date: Date, interval = 'day', steps = 0): Date {
  const monday = date.getTime() - ((date.getUTCDay() + 6) % 7) * DAY_MS
  if (interval === 'week') return new Date(monday + steps * 7 * DAY_MS)
  const months = MONTHS[interval]
  if (months === undefined) return date
  const month = Math.floor(date.getUTCMonth() / months) + steps
  return new Date(Date.UTC(date.getUTCFullYear(), month * months))
}

/** Those who return are the users that are not new, in both periods. */
function expectNewUsers({ data: [row] }: AnalyticsQueryResponse): readonly ExpectedRow[] {
  const { metrics, comparison } = row!
  const countReturning = ({ users, new_users: isNew }: Numbers): number => users! - isNew!
  const [now, before] = [countReturning(metrics), countReturning(comparison?.metrics ?? metrics)]
  const change = before === 0 ? null : Math.round((10_000 * (now - before)) / before) / 100
  return [
    {
      about: 'New',
      values: [metrics.new_users!, ...(comparison ? [comparison.change['new_users'] ?? null] : [])],
    },
    { about: 'Returning', values: [now, ...(comparison ? [change] : [])] },
  ]
}

/**
 * A panel shows the metric that it is ordered by with its change; the dialog shows all metrics, each with its change if there is one, or what
 * it is about before the value.
 */
function expectGroups(
  name: string,
  { query, data }: AnalyticsQueryResponse,
): readonly ExpectedRow[] {
  const names = listNames(query)
  const [first] = names
  // The dialog has lost rows where it is about differences or changes.
  const { include, order_by: orders } = query
  return data.map(({ group, metrics: values, comparison }) => {
    const change = (metric: string): number | null => comparison?.change[metric] ?? null
    const about = group[query.group_by[0]!]!
    const row = (numbers: readonly (number | null)[]) => ({ about, values: numbers })
    if (name !== 'details') {
      // A page or an event without a conversion of its own has a dash.
      const isInPlace = /^(page:path|page:origin|event:.*)$/.test(query.group_by[0]!)
      const read = (value: number | null = null) => (isInPlace && value === 0 ? null : value)
      const ofGoal = query.metrics.flatMap((metric) =>
        typeof metric === 'string' ? [] : [read(values[metric.as])],
      )
      const changes = comparison === undefined ? [] : [change(first!)]
      return row([values[first!] ?? null, ...changes, ...ofGoal])
    }
    if (include?.lost !== true) {
      return row(
        names.flatMap((metric) => [
          values[metric] ?? null,
          ...(change(metric) === null ? [] : [change(metric)]),
        ]),
      )
    }
    const isChange = JSON.stringify(orders).includes('change:')
    return row(
      names.flatMap((metric) => {
        const [value, before] = [values[metric] ?? null, comparison?.metrics[metric] ?? null]
        const difference =
          value === null || before === null ? null : Math.round((value - before) * 100) / 100
        const shown = isChange ? change(metric) : difference
        const numbers = [shown, value].filter((one) => one !== null)
        return numbers.length === 0 ? [null] : numbers
      }),
    )
  })
}

const expectSteps = ({ data }: FunnelResponse): readonly ExpectedRow[] =>
  data.map((step, i) => ({
    about: String(step.step),
    values: [
      step.users,
      i === 0 ? null : data[i - 1]!.users - step.users,
      step.share_of_first,
      step.share_of_previous,
      step.median_seconds,
    ],
  }))

const expectJourneys = ({ data }: JourneysResponse): readonly ExpectedRow[] =>
  data.map(({ step, kind, value, visits, users, share_of_visits: share }) => ({
    about: [step, kind, ...(value === null ? [] : [value])].join(' '),
    values: [visits, users, share ?? 0],
  }))

/** A row for each cohort with users. Its label is how the page names the week, or the day on which the period begins in it. */
function expectCohorts({ data, period }: RetentionResponse): readonly ExpectedRow[] {
  const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
  const name = (moment: string): string =>
    `${Number(moment.slice(8, 10))} ${months[Number(moment.slice(5, 7)) - 1]!}`
  return data
    .filter(({ size }) => size !== null && size > 0)
    .map(({ start, size, counts }) => ({
      about: new Date(start) < new Date(period.from) ? `from ${name(period.from)}` : name(start),
      values: [size, ...counts],
    }))
}

/** The shares of users that the rows of a panel have, as people read them: of all users that the filters of its query leave. */
export function expectShares({ data, totals }: AnalyticsQueryResponse): readonly string[] {
  const whole = totals!.metrics.users!
  const format = new Intl.NumberFormat('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 })
  return data.map(({ metrics }) => `${format.format((100 * metrics.users!) / whole)}%`)
}
