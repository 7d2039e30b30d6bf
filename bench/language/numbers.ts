/** Metrics over numbers in properties, beside the statements by hand. */
import {
  join,
  sql,
  statement,
  string,
  time,
  TRUE,
  type Sql,
  type Statement,
} from '../../src/clickhouse/sql.js'
import { WHOLE_MAPS } from '../../src/analytics/sql/numbers.js'
import { MONTH, YEAR, type BenchPeriod } from '../reads/periods.js'
import type { Pair } from './pair.js'
import { checkRows, query } from './questions.js'
import { IN_PROJECT } from './statements.js'

/** A metric by hand, of the events that a condition selects. @param isOfNumbers whether these are the events that have a number */
type Way = readonly [metric: Sql, condition: Sql, isOfNumbers?: true]

/** A property: one with many values, and one with few. */
type Property = 'amount' | 'quantity'

const getNumber = (property: Property): Sql => sql`numbers[${string(property)}]`
const getText = (property: Property): Sql => sql`properties[${string(property)}]`
const hasNumber = (property: Property): Sql => sql`mapContains(numbers, ${string(property)})`
const hasText = (property: Property): Sql => sql`mapContains(properties, ${string(property)})`

/** Lists the ways of a metric. A sum of numbers may read those that events lack: they are 0. A percentile is by nearest rank. */
const WAYS: Readonly<Record<'sum' | 'p95', (property: Property) => readonly Way[]>> = {
  sum: (property) => [
    [sql`sum(${getNumber(property)})`, TRUE],
    [sql`sum(${getNumber(property)})`, hasNumber(property), true],
    [sql`sum(toDecimal64(${getText(property)}, 2))`, hasText(property)],
  ],
  p95: (property) => [
    [sql`quantileExactWeighted(0.95)(${getNumber(property)}, 1)`, hasNumber(property), true],
    [sql`quantileExactWeightedIf(0.95)(${getNumber(property)}, 1, ${hasNumber(property)})`, TRUE],
    [
      sql`(arraySort(groupArray(toDecimal64(${getText(property)}, 2))) AS sorted)[toUInt64(ceil(length(sorted) * 0.95))]`,
      hasText(property),
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
const listFacts = (property: Property): readonly Sql[] => [
  sql`countIf(${hasNumber(property)})`,
  sql`countIf(${hasText(property)} AND NOT ${hasNumber(property)})`,
  sql`groupUniqArrayIf(2)(properties['currency'], ${hasNumber(property)})`,
]

type Metric = keyof typeof WAYS
type GroupName = keyof typeof GROUPS

/** A metric of a property in a period, by hand with some more columns. */
interface Numbers {
  readonly period: BenchPeriod
  readonly metric: Metric
  readonly property: Property
  readonly group: GroupName
  readonly more: readonly Sql[]
}

/** Selects a metric in each way, with maps as ClickHouse reads them and as a whole. */
function listStatements({ period, metric, property, group, more }: Numbers): readonly Statement[] {
  const { key, order } = GROUPS[group]
  // Among the events that have a number, none has something else.
  const ways = WAYS[metric](property).filter(
    ([, , isOfNumbers = false]) => more.length === 0 || !isOfNumbers,
  )
  return ways.flatMap(([write, condition]) => {
    const columns = [sql`${key} AS key`, sql`${write} AS amount`, ...more]
    const select = sql`SELECT ${join(columns)} FROM ${writeDays(period)} AND ${condition} ${order}`
    return [statement(select), statement(sql`${select} SETTINGS ${WHOLE_MAPS}`)]
  })
}

const DESCRIPTIONS: Readonly<Record<Property, string>> = {
  amount: 'a number',
  quantity: 'a number of few values',
}

function compareNumbers(numbers: Numbers): Pair {
  const { period, metric, property, group, more } = numbers
  return {
    name: `${period.name}, ${metric} of ${DESCRIPTIONS[property]}, ${group}`,
    request: query(period, {
      ...GROUPS[group].asked,
      metrics: [{ metric, of: `event:prop:${property}`, as: 'amount' }],
    }),
    beside: {
      name: more.length === 0 ? 'by hand' : 'by hand, with counts and currencies',
      ways: listStatements(numbers),
      check: (answer, rows) =>
        checkRows(
          answer,
          rows.map(({ key, amount }) => ({ key, amount })),
        ),
    },
    target: { cpuTimes: period === MONTH ? 1 : 0.2 },
  }
}

const PERIODS = [MONTH, YEAR]
const METRICS = ['sum', 'p95'] as const
const QUESTIONS: readonly (readonly [Property, GroupName])[] = [
  ['amount', 'total'],
  ['amount', 'by country'],
  ['quantity', 'total'],
]

export const NUMBER_PAIRS: readonly Pair[] = PERIODS.flatMap((period) =>
  METRICS.flatMap((metric) =>
    QUESTIONS.flatMap(([property, group]) =>
      [[], listFacts(property)].map((more) =>
        compareNumbers({ period, metric, property, group, more }),
      ),
    ),
  ),
)
