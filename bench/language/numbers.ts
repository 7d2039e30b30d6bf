/** Metrics over numbers in properties, beside the statements by hand. */
import {
  join,
  sql,
  statement,
  time,
  TRUE,
  type Sql,
  type Statement,
} from '../../src/clickhouse/sql.js'
import { WHOLE_MAPS } from '../../src/analytics/sql/numbers.js'
import { MONTH, YEAR, type BenchPeriod } from '../reads/periods.js'
import type { ByHand, Pair } from './pair.js'
import { checkRows, query } from './questions.js'
import { IN_PROJECT } from './statements.js'

/** A metric by hand, of the events that a condition selects. */
type Way = readonly [metric: Sql, condition: Sql]

const HAS_NUMBER = sql`mapContains(numbers, 'amount')`
const HAS_TEXT = sql`mapContains(properties, 'amount')`
/** A sum of numbers may read those that events lack: they are 0. A percentile is by nearest rank. */
const WAYS: Readonly<Record<'sum' | 'p95', readonly Way[]>> = {
  sum: [
    [sql`sum(numbers['amount'])`, TRUE],
    [sql`sum(numbers['amount'])`, HAS_NUMBER],
    [sql`sum(toDecimal64(properties['amount'], 2))`, HAS_TEXT],
  ],
  p95: [
    [sql`quantileExactWeighted(0.95)(numbers['amount'], 1)`, HAS_NUMBER],
    [sql`quantileExactWeightedIf(0.95)(numbers['amount'], 1, ${HAS_NUMBER})`, TRUE],
    [
      sql`(arraySort(groupArray(toDecimal64(properties['amount'], 2))) AS sorted)[toUInt64(ceil(length(sorted) * 0.95))]`,
      HAS_TEXT,
    ],
  ],
}

const GROUPS = {
  total: { asked: {}, key: sql`''`, order: sql`` },
  'by country': {
    asked: { group_by: ['country'] },
    key: sql`country`,
    order: sql`GROUP BY key ORDER BY amount DESC, key LIMIT 100`,
  },
} as const

/** The events of whole days, as the sorting key of the events has them. */
const writeDays = ({ start, end }: BenchPeriod): Sql =>
  sql`events WHERE ${IN_PROJECT} AND toDate(timestamp) >= toDate(${time(start)}) AND toDate(timestamp) < toDate(${time(end)})`

/** What a response says of the numbers that are added up: how many events have one, how many something else, and the currencies. */
const FACTS: readonly Sql[] = [
  sql`countIf(${HAS_NUMBER})`,
  sql`countIf(${HAS_TEXT} AND NOT ${HAS_NUMBER})`,
  sql`groupUniqArrayIf(2)(properties['currency'], ${HAS_NUMBER})`,
]

type Metric = keyof typeof WAYS
type GroupName = keyof typeof GROUPS

/** Selects a metric in each way, with maps as ClickHouse reads them and as a whole. */
function listStatements(
  period: BenchPeriod,
  metric: Metric,
  name: GroupName,
  more: readonly Sql[],
): readonly Statement[] {
  const { key, order } = GROUPS[name]
  // Among the events that have a number, none has something else.
  const ways = WAYS[metric].filter(([, condition]) => more.length === 0 || condition !== HAS_NUMBER)
  return ways.flatMap(([write, condition]) => {
    const columns = [sql`${key} AS key`, sql`${write} AS amount`, ...more]
    const select = sql`SELECT ${join(columns)} FROM ${writeDays(period)} AND ${condition} ${order}`
    return [statement(select), statement(sql`${select} SETTINGS ${WHOLE_MAPS}`)]
  })
}

function compareNumbers(
  period: BenchPeriod,
  metric: Metric,
  name: GroupName,
  beside: Pick<ByHand, 'name'> & { readonly more: readonly Sql[] },
): Pair {
  return {
    name: `${period.name}, ${metric} of a number, ${name}`,
    request: query(period, {
      ...GROUPS[name].asked,
      metrics: [{ metric, of: 'event:prop:amount', as: 'amount' }],
    }),
    beside: {
      name: beside.name,
      ways: listStatements(period, metric, name, beside.more),
      check: (answer, rows) =>
        checkRows(
          answer,
          rows.map(({ key, amount }) => ({ key, amount })),
        ),
    },
    ...(period === MONTH ? { target: { cpuTimes: 1 } } : {}),
  }
}

export const NUMBER_PAIRS: readonly Pair[] = [MONTH, YEAR].flatMap((period) =>
  (['sum', 'p95'] as const).flatMap((metric) =>
    (['total', 'by country'] as const).flatMap((name) =>
      [
        { name: 'by hand', more: [] },
        { name: 'by hand, with counts and currencies', more: FACTS },
      ].map((beside) => compareNumbers(period, metric, name, beside)),
    ),
  ),
)
