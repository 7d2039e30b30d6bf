/** The numbers in properties of events: what scans compute from them, and the metrics that follow. */
import type { NumericMetric } from '../contract/api.js'
import { and, join, numberedName, sql, string, uint32, type Sql } from '../clickhouse/sql.js'
import { mapRecord } from '../lib/records.js'
import { isConversion } from './goals.js'

/** The name of a metric over the numbers of a property. */
type NumberMetricName = NumericMetric['metric']

/** The numbers that are meant: those of a property, in all events or in the conversions of a goal. */
interface NumberSource {
  /** The name of the property. */
  readonly property: string
  /** The place of the goal among those of the query; absent: all events are meant. */
  readonly goal?: number
}

/** What a scan computes from the numbers of a source. Results of several scans are merged. */
interface NumberStateRow {
  /** Computes it from the events of a group. */
  readonly aggregate: (source: NumberSource) => Sql
  /** Computes it from the values of the property in a group, see `readNumbers`. Absent if they do not say it. */
  readonly ofValues?: Sql
  /** Computes it from the stored sums of a group, see `readSums`. Absent if they do not say it. */
  readonly ofSums?: Sql
  /** Merges the results of several groups. */
  readonly merge: (column: Sql) => Sql
  /** The result without any row. */
  readonly zero: Sql
}

/** Writes the condition that an event is a conversion of the goal, if the source has one. */
const isMeant = ({ goal }: NumberSource): readonly Sql[] =>
  goal === undefined ? [] : [isConversion(goal)]

const getNumber = ({ property }: NumberSource): Sql => sql`numbers[${string(property)}]`
const hasNumber = (source: NumberSource): Sql =>
  and([sql`mapContains(numbers, ${string(source.property)})`, ...isMeant(source)])

/** Whether an event has something else than a number in the property. */
const hasOther = (source: NumberSource): Sql => {
  const property = string(source.property)
  return and([
    sql`mapContains(properties, ${property})`,
    sql`NOT mapContains(numbers, ${property})`,
    ...isMeant(source),
  ])
}

/** The currency of an event, which is a property like others. */
export const CURRENCY = sql`properties['currency']`

/** The levels of `quantilesExactWeighted`. Its quantile is the nearest rank: the least value that a share of all values does not exceed. */
const LEVELS = sql`0.5, 0.75, 0.9, 0.95, 0.99`

const merge =
  (aggregate: Sql) =>
  (column: Sql): Sql =>
    sql`${aggregate}(${column})`

/** Whether a value is a number. */
const IS_NUMBER = sql`isNotNull(number)`

const STATES = {
  /** How many events have a number. */
  counted: {
    aggregate: (source) => sql`toInt64(countIf(${hasNumber(source)}))`,
    ofValues: sql`sumIf(times, ${IS_NUMBER})`,
    ofSums: sql`sum(all_counted)`,
    merge: merge(sql`sum`),
    zero: sql`0`,
  },
  /** How many events have the property, but no number in it. */
  others: {
    aggregate: (source) => sql`toInt64(countIf(${hasOther(source)}))`,
    ofValues: sql`sumIf(times, NOT ${IS_NUMBER})`,
    ofSums: sql`sum(all_others)`,
    merge: merge(sql`sum`),
    zero: sql`0`,
  },
  /** The currencies of the events that have a number: two of them if there are more. */
  currencies: {
    aggregate: (source) =>
      sql`groupUniqArrayIf(2)(${CURRENCY}, ${hasNumber(source)} AND notEmpty(${CURRENCY}))`,
    ofSums: sql`groupUniqArrayIf(2)(other, all_counted > 0 AND notEmpty(other))`,
    merge: merge(sql`groupUniqArrayArray(2)`),
    zero: sql`CAST([], 'Array(String)')`,
  },
  // A property that an event lacks is the number 0.
  sum: {
    aggregate: (source) => {
      const [condition] = isMeant(source)
      const number = getNumber(source)
      return condition === undefined ? sql`sum(${number})` : sql`sumIf(${number}, ${condition})`
    },
    ofValues: sql`sum(ifNull(number, toDecimal128(0, 9)) * times)`,
    ofSums: sql`sum(all_sum)`,
    merge: merge(sql`sum`),
    zero: sql`toDecimal128(0, 9)`,
  },
  least: {
    aggregate: (source) => sql`minOrNullIf(${getNumber(source)}, ${hasNumber(source)})`,
    ofValues: sql`min(number)`,
    merge: merge(sql`min`),
    zero: sql`CAST(NULL, 'Nullable(Decimal(38, 9))')`,
  },
  greatest: {
    aggregate: (source) => sql`maxOrNullIf(${getNumber(source)}, ${hasNumber(source)})`,
    ofValues: sql`max(number)`,
    merge: merge(sql`max`),
    zero: sql`CAST(NULL, 'Nullable(Decimal(38, 9))')`,
  },
  /** How often each number occurs. */
  quantiles: {
    aggregate: (source) =>
      sql`quantilesExactWeightedStateIf(${LEVELS})(${getNumber(source)}, toUInt64(1), ${hasNumber(source)})`,
    ofValues: sql`quantilesExactWeightedStateIf(${LEVELS})(assumeNotNull(number), toUInt64(times), ${IS_NUMBER})`,
    merge: merge(sql`quantilesExactWeightedMergeState(${LEVELS})`),
    zero: sql`arrayReduce('quantilesExactWeightedState(${LEVELS})', CAST([], 'Array(Decimal(38, 9))'), CAST([], 'Array(UInt64)'))`,
  },
} as const satisfies Readonly<Record<string, NumberStateRow>>

type NumberState = keyof typeof STATES

/** The states that only some metrics need. */
type OwnState = Exclude<NumberState, 'counted' | 'others'>

const CURRENCIES: readonly OwnState[] = ['currencies']

/** What a scan computes from the numbers of a property: a measure, as those of `measures.ts`. */
export interface NumberMeasure extends NumberSource {
  readonly state: NumberState
  /** The place of the source among those of the query, which names the column. */
  readonly place: number
}

const nameColumn = (place: number, state: NumberState): Sql => numberedName('number', place, state)

/** The name of the column of a measure. */
export const getNumberColumn = ({ place, state }: NumberMeasure): Sql => nameColumn(place, state)

/** Computes a measure from rows of events. */
export const aggregateNumbers = (measure: NumberMeasure): Sql =>
  STATES[measure.state].aggregate(measure)

/**
 * Computes a measure from the rows that `readNumbers` (`ofValues`) or `readSums` (`ofSums`) writes. Returns undefined if they do not say it,
 * and for the conversions of a goal.
 */
export const aggregateStored = (
  { state, goal }: NumberMeasure,
  from: 'ofValues' | 'ofSums',
): Sql | undefined => (goal === undefined ? (STATES[state] as NumberStateRow)[from] : undefined)

/** Reads a text as a number, by the rule of the column `numbers` of events: null if it is none. */
export function parseNumber(text: Sql): Sql {
  // These are more decimals than the numbers of events keep.
  const decimal = sql`toDecimal128OrNull(${text}, 18)`
  return sql`if(ifNull(abs(${decimal}) < 1000000000000000000, false) AND match(${text}, '^-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][+-]?[0-9]+)?$'),
    toDecimal128(round(assumeNotNull(${decimal}), 9), 9), NULL)`
}

/** The columns with sums in the rollup of numbers. */
export const NUMBER_SUMS = ['counted', 'others', 'sum'] as const

/**
 * Adds up the rows of the rollup of numbers: one row for each value of a dimension and each currency.
 *
 * @param keys the columns by which rows are kept apart
 * @param rows the table with its WHERE
 */
export const readSums = (keys: readonly Sql[], rows: Sql): Sql => sql`(
SELECT ${join([...keys, sql`value`, sql`other`])}, sum(counted) AS all_counted, sum(others) AS all_others, sum(sum) AS all_sum
FROM ${rows} GROUP BY ${join([...keys, sql`value`, sql`other`])})`

/**
 * Writes the rows of rollups by the values of a property as one row for each value: `number`, which is null if the value is no number, and
 * `times`, how many events have it.
 *
 * @param keys the columns by which rows are kept apart
 * @param rows the table with its WHERE
 */
export const readNumbers = (keys: readonly Sql[], rows: Sql): Sql => sql`(
SELECT ${join([...keys, sql`value`])}, sum(pageviews + events) AS times, ${parseNumber(sql`value`)} AS number
FROM ${rows} GROUP BY ${join([...keys, sql`value`])} HAVING times > 0)`

/** Merges a measure of several groups. @param column that of the measure */
export const mergeNumbers = ({ state }: NumberMeasure, column: Sql): Sql =>
  STATES[state].merge(column)

/** A measure without any event. */
export const getNoNumbers = ({ state }: NumberMeasure): Sql => STATES[state].zero

/** Names a measure for those who ask how a query is answered: `sum of event:prop:amount`. */
export const describeNumbers = ({ state, property, goal }: NumberMeasure): string =>
  `${state} of event:prop:${property}${goal === undefined ? '' : ' in conversions'}`

interface NumberMetricRow {
  /** What it is computed from, beside the number of events that have a number. */
  readonly states: readonly OwnState[]
  /** Whether it is a whole number. */
  readonly isCount?: true
  /** Whether it means nothing for amounts in several currencies. */
  readonly isAmount: boolean
  /** Computes it from columns of states. */
  readonly expression: (column: (state: NumberState) => Sql) => Sql
}

/** Defines the quantile at a place of `LEVELS`, counted from 1. */
const defineQuantile = (place: number): NumberMetricRow => ({
  states: ['quantiles'],
  isAmount: true,
  expression: (column) =>
    sql`if(${column('counted')} > 0, finalizeAggregation(${column('quantiles')})[${uint32(place)}], NULL)`,
})

/** The metrics. All but counts are null without a number, except the sum, which is 0. */
const NUMBER_METRICS: Readonly<Record<NumberMetricName, NumberMetricRow>> = {
  sum: { states: ['sum'], isAmount: true, expression: (column) => column('sum') },
  avg: {
    states: ['sum'],
    isAmount: true,
    // A division cuts what follows the tenth decimal, which decides how the ninth is rounded.
    expression: (column) =>
      sql`if(${column('counted')} > 0, round(divideDecimal(${column('sum')}, toDecimal128(${column('counted')}, 0), 10), 9), NULL)`,
  },
  min: { states: ['least'], isAmount: true, expression: (column) => column('least') },
  max: { states: ['greatest'], isAmount: true, expression: (column) => column('greatest') },
  median: defineQuantile(1),
  p75: defineQuantile(2),
  p90: defineQuantile(3),
  p95: defineQuantile(4),
  p99: defineQuantile(5),
  count: { states: [], isCount: true, isAmount: false, expression: (column) => column('counted') },
}

/** A metric over the numbers of a property, as a query has it. */
export interface NumberMetric extends NumberSource {
  readonly metric: NumberMetricName
  /** Its name in the response. */
  readonly name: string
  /** The name of the goal, if it is over its conversions alone. */
  readonly goalName?: string
  /** The place of the source among those of the query. */
  readonly place: number
  /** The place of the metric among those of the query. */
  readonly number: number
  /** Whether it means nothing for amounts in several currencies. */
  readonly isAmount: boolean
  readonly measures: readonly [NumberMeasure, ...NumberMeasure[]]
}

/** A metric that is asked for over numbers. */
export interface AskedNumbers extends Pick<
  NumberMetric,
  'metric' | 'name' | 'number' | 'property' | 'goal' | 'goalName'
> {
  /** Whether the numbers are amounts of money. */
  readonly isMoney: boolean
}

/** Resolves the metrics of a request over numbers, in their order. Metrics over one source share its measures. */
export function resolveNumberMetrics(asked: readonly AskedNumbers[]): readonly NumberMetric[] {
  const nameSource = ({ property, goal }: NumberSource): string => JSON.stringify([property, goal])
  const sources = new Map(asked.map((one) => [nameSource(one), one] as const))
  const names = [...sources.keys()]
  const known = [...sources.values()].map(({ property, goal }, place) =>
    mapRecord(STATES, (state): NumberMeasure => ({
      state,
      property,
      place,
      ...(goal === undefined ? {} : { goal }),
    })),
  )
  return asked.flatMap(({ isMoney, ...one }) => {
    const place = names.indexOf(nameSource(one))
    const isAmount = isMoney && NUMBER_METRICS[one.metric].isAmount
    const states = [...NUMBER_METRICS[one.metric].states, ...(isAmount ? CURRENCIES : [])]
    return known.slice(place, place + 1).map(({ counted, others, ...own }): NumberMetric => ({
      ...one,
      place,
      isAmount,
      measures: [counted, others, ...states.map((state) => own[state])],
    }))
  })
}

/** Computes a metric from the columns of its measures. */
export const computeNumberMetric = ({ metric, place }: NumberMetric): Sql =>
  NUMBER_METRICS[metric].expression((state) => nameColumn(place, state))

export const isCountOfNumbers = ({ metric }: NumberMetric): boolean =>
  NUMBER_METRICS[metric].isCount === true
