/** The numbers in properties of events: what scans compute from them, and the metrics that follow. */
import type { NumericMetric } from '../contract/api.js'
import { numberedName, sql, string, uint32, type Sql } from '../clickhouse/sql.js'
import { PROPERTY_PREFIX } from '../contract/filter-fields.js'
import { mapRecord } from '../lib/records.js'

/** The name of a metric over the numbers of a property. */
export type NumberMetricName = NumericMetric['metric']

/** What a scan computes from one property. Results of several scans are merged. */
interface NumberStateRow {
  /** Computes it from the rows of a group. */
  readonly aggregate: (property: Sql) => Sql
  /** Merges the results of several groups. */
  readonly merge: (column: Sql) => Sql
  /** The result without any row. */
  readonly zero: Sql
}

const getNumber = (property: Sql): Sql => sql`numbers[${property}]`
const hasNumber = (property: Sql): Sql => sql`mapContains(numbers, ${property})`

/** The currency of an event, which is a property like others. */
const CURRENCY = sql`properties['currency']`

/** The levels of `quantilesExactWeighted`. Its quantile is the nearest rank: the least value that a share of all values does not exceed. */
const LEVELS = sql`0.5, 0.75, 0.9, 0.95, 0.99`

const merge =
  (aggregate: Sql) =>
  (column: Sql): Sql =>
    sql`${aggregate}(${column})`

const STATES = {
  /** How many events have a number. */
  counted: {
    aggregate: (property) => sql`toInt64(countIf(${hasNumber(property)}))`,
    merge: merge(sql`sum`),
    zero: sql`0`,
  },
  /** How many events have the property, but no number in it. */
  others: {
    aggregate: (property) =>
      sql`toInt64(countIf(mapContains(properties, ${property}) AND NOT ${hasNumber(property)}))`,
    merge: merge(sql`sum`),
    zero: sql`0`,
  },
  /** The currencies of the events that have a number: two of them if there are more. */
  currencies: {
    aggregate: (property) =>
      sql`groupUniqArrayIf(2)(${CURRENCY}, ${hasNumber(property)} AND notEmpty(${CURRENCY}))`,
    merge: merge(sql`groupUniqArrayArray(2)`),
    zero: sql`CAST([], 'Array(String)')`,
  },
  // A property that an event lacks is the number 0.
  sum: {
    aggregate: (property) => sql`sum(${getNumber(property)})`,
    merge: merge(sql`sum`),
    zero: sql`toDecimal128(0, 9)`,
  },
  least: {
    aggregate: (property) => sql`minOrNullIf(${getNumber(property)}, ${hasNumber(property)})`,
    merge: merge(sql`min`),
    zero: sql`CAST(NULL, 'Nullable(Decimal(38, 9))')`,
  },
  greatest: {
    aggregate: (property) => sql`maxOrNullIf(${getNumber(property)}, ${hasNumber(property)})`,
    merge: merge(sql`max`),
    zero: sql`CAST(NULL, 'Nullable(Decimal(38, 9))')`,
  },
  /** How often each number occurs. */
  quantiles: {
    aggregate: (property) =>
      sql`quantilesExactWeightedStateIf(${LEVELS})(${getNumber(property)}, 1, ${hasNumber(property)})`,
    merge: merge(sql`quantilesExactWeightedMergeState(${LEVELS})`),
    zero: sql`arrayReduce('quantilesExactWeightedState(0.5, 0.75, 0.9, 0.95, 0.99)', CAST([], 'Array(Decimal(38, 9))'), CAST([], 'Array(UInt8)'))`,
  },
} as const satisfies Readonly<Record<string, NumberStateRow>>

type NumberState = keyof typeof STATES

/** The states that only some metrics need. */
type OwnState = Exclude<NumberState, 'counted' | 'others'>

const CURRENCIES: readonly OwnState[] = ['currencies']

/** What a scan computes from the numbers of a property: a measure, as those of `measures.ts`. */
export interface NumberMeasure {
  readonly state: NumberState
  /** The name of the property. */
  readonly property: string
  /** The place of the property among those of the query, which names the column. */
  readonly place: number
}

const nameColumn = (place: number, state: NumberState): Sql => numberedName('number', place, state)

/** The name of the column of a measure. */
export const getNumberColumn = ({ place, state }: NumberMeasure): Sql => nameColumn(place, state)

/** Computes a measure from rows of events. */
export const aggregateNumbers = ({ state, property }: NumberMeasure): Sql =>
  STATES[state].aggregate(string(property))

/** Merges a measure of several groups. @param column that of the measure */
export const mergeNumbers = ({ state }: NumberMeasure, column: Sql): Sql =>
  STATES[state].merge(column)

/** A measure without any event. */
export const getNoNumbers = ({ state }: NumberMeasure): Sql => STATES[state].zero

/** Names a measure for those who ask how a query is answered: `sum of event:prop:amount`. */
export const describeNumbers = ({ state, property }: NumberMeasure): string =>
  `${state} of event:prop:${property}`

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
export interface NumberMetric {
  readonly metric: NumberMetricName
  /** Its name in the response. */
  readonly name: string
  readonly property: string
  /** The place of the property among those of the query. */
  readonly place: number
  /** The place of the metric among those of the query. */
  readonly number: number
  /** Whether it means nothing for amounts in several currencies. */
  readonly isAmount: boolean
  readonly measures: readonly [NumberMeasure, ...NumberMeasure[]]
}

/**
 * Resolves the metrics of a request over numbers. Metrics over one property share its measures.
 *
 * @returns a metric for each that was asked, in their order
 */
export function resolveNumberMetrics(asked: readonly NumericMetric[]): readonly NumberMetric[] {
  const properties = [...new Set(asked.map(({ of }) => of.slice(PROPERTY_PREFIX.length)))]
  const known = properties.map((property, place) =>
    mapRecord(STATES, (state): NumberMeasure => ({ state, property, place })),
  )
  return asked.flatMap(({ metric, of, as: name, money = true }, number) => {
    const property = of.slice(PROPERTY_PREFIX.length)
    const place = properties.indexOf(property)
    const isAmount = money && NUMBER_METRICS[metric].isAmount
    const states = [...NUMBER_METRICS[metric].states, ...(isAmount ? CURRENCIES : [])]
    return known.slice(place, place + 1).map(({ counted, others, ...own }): NumberMetric => ({
      metric,
      name,
      property,
      place,
      number,
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
