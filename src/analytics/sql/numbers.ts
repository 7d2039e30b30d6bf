/** Writes what the rows of a query over numbers say besides its metrics: how many events have a number, and in which currencies. */
import { join, numberedName, sql, type Sql } from '../../clickhouse/sql.js'
import { isNumberMetric } from '../../model/metrics.js'
import { getNumberColumn, mergeNumbers, type NumberMeasure } from '../../model/numbers.js'
import type { Plan } from '../plan/plan.js'
import { listGroupings, type Query } from '../request/query.js'
import { nameColumns } from './select.js'

/** Reads numbers and properties once each. Otherwise ClickHouse reads their names and each value that is needed as columns of their own. */
export const WHOLE_MAPS = sql`optimize_functions_to_subcolumns = 0`

/** Lists the measures of numbers of a query, each once. */
const listNumbers = ({ metrics }: Pick<Query, 'metrics'>): readonly NumberMeasure[] => [
  ...new Set(metrics.filter(isNumberMetric).flatMap(({ measures }) => measures)),
]

const listMeasuresOf = (
  query: Pick<Query, 'metrics'>,
  state: NumberMeasure['state'],
): readonly NumberMeasure[] => listNumbers(query).filter((measure) => measure.state === state)

/** Lists the columns with the currencies of groups, one for each property whose numbers are amounts. */
export const listOwnCurrencies = (query: Pick<Query, 'metrics'>): readonly Sql[] =>
  listMeasuresOf(query, 'currencies').map(getNumberColumn)

/** Does the same for the period that a query is compared with, where the groups have other names for them. */
export const listComparedCurrencies = (query: Pick<Query, 'metrics'>): readonly Sql[] =>
  listMeasuresOf(query, 'currencies').map(({ place }) =>
    numberedName('compared', place, 'currencies'),
  )

export const nameComparedCurrencies = (query: Pick<Query, 'metrics'>): readonly Sql[] =>
  nameColumns(listOwnCurrencies(query), listComparedCurrencies(query))

/** Lists the columns with the currencies of a plan, in both periods. */
export const listCurrencies = ({ query, comparison }: Plan): readonly Sql[] => [
  ...listOwnCurrencies(query),
  ...(comparison === undefined ? [] : listComparedCurrencies(query)),
]

/** Lists the columns with the currencies of the totals, in both periods. */
const listTotalCurrencies = ({ query, comparison }: Plan): readonly Sql[] => {
  const places = listMeasuresOf(query, 'currencies').map(({ place }) => place)
  return [
    ...places.map((place) => numberedName('total', place, 'currencies')),
    ...(comparison === undefined
      ? []
      : places.map((place) => numberedName('compared_total', place, 'currencies'))),
  ]
}

export const nameTotalCurrencies = (totals: Plan): readonly Sql[] =>
  nameColumns(listCurrencies(totals), listTotalCurrencies(totals))

/**
 * Writes columns that are the same in every row: `numbers_…_counted` and `numbers_…_others` of each property, of the events of all rows,
 * and `numbers_…_currencies`, the currencies that are added up: two of them if there are more.
 */
export function selectNumberFacts(plan: Plan): readonly Sql[] {
  const counts = (['counted', 'others'] as const).flatMap((state) =>
    listMeasuresOf(plan.query, state).map(
      (measure) =>
        sql`${mergeNumbers(measure, getNumberColumn(measure))} OVER () AS ${numberedName('numbers', measure.place, state)}`,
    ),
  )
  const mixed = listMeasuresOf(plan.query, 'currencies').map((measure) => {
    const added = join(listAdded(plan, measure.place))
    return sql`${mergeNumbers(measure, sql`arrayConcat(${added})`)} OVER () AS ${numberedName('numbers', measure.place, 'currencies')}`
  })
  return listAdded(plan, 0).length === 0 ? counts : [...counts, ...mixed]
}

/** Whether every row is of one currency. */
const isByCurrency = (query: Query): boolean =>
  listGroupings(query).some((one) => one.kind === 'property' && one.name === 'currency')

/** Lists the columns with the currencies of what is added up: rows of several currencies, and totals. */
function listAdded({ query, comparison, totals }: Plan, place: number): readonly Sql[] {
  const rows = isByCurrency(query)
    ? []
    : [
        numberedName('number', place, 'currencies'),
        ...(comparison === undefined ? [] : [numberedName('compared', place, 'currencies')]),
      ]
  if (totals === undefined || query.grouping.kind === 'none') return rows
  return [
    ...rows,
    numberedName('total', place, 'currencies'),
    ...(totals.comparison === undefined
      ? []
      : [numberedName('compared_total', place, 'currencies')]),
  ]
}
