/** Prints how a question is answered, for people or programs. */
import type { PlanDescription, Read } from '../analytics/plan/describe.js'
import type { Period } from '../contract/api.js'
import type { QueryCost } from '../clickhouse/connection.js'
import type { Statement } from '../clickhouse/sql.js'
import type { CommandContext } from './shared/context.js'
import { formatJson, formatList, formatNumber, formatTable } from './shared/output.js'

export interface Explanation extends PlanDescription {
  readonly sql: string
  readonly parameters: Statement['query_params']
  /** What it took to run it, and how many rows came of it; null where it could not be run. */
  readonly run: (QueryCost & { readonly rows: number }) | null
}

const USERS_OF: Readonly<Record<Explanation['usersOf'], string>> = {
  all: 'counted for every group',
  page: 'counted for the groups on the page asked for, which other metrics tell',
  bounded: 'counted for the groups with so many events that they can get onto the page asked for',
}

const FILTERED_BY: Readonly<Record<NonNullable<Read['filteredBy']>, string>> = {
  columns: 'its columns',
  entry: 'the page that the visit entered on',
  value: 'the value it counts by',
  events: 'the events of each session',
}

export function printExplanation(
  { print }: CommandContext,
  explanation: Explanation,
  options: { readonly json?: boolean },
): void {
  print(options.json === true ? formatJson(explanation) : textOf(explanation))
}

function textOf({ period, reads, passedOver, sql, parameters, run, ...rest }: Explanation): string {
  const countsUsers = reads.some(({ measures }) => measures.includes('users'))
  return [
    formatTable([
      ['period', periodText(period)],
      ['users', countsUsers ? USERS_OF[rest.usersOf] : 'not asked for'],
    ]),
    formatTable([['READ', 'BY', 'FOR', 'FILTERED BY', 'PERIOD'], ...reads.flatMap(readLines)]),
    ...(passedOver.length === 0 ? [] : [passedOverTable(passedOver)]),
    sql,
    formatTable(Object.entries(parameters).map(([name, value]) => [name, JSON.stringify(value)])),
    ...(run === null ? [] : [runTable(run)]),
  ].join('\n\n')
}

/** A relation on one line, and one more for each further part of the period. */
function readLines(read: Read): readonly (readonly string[])[] {
  const { relation, dimension = '-', measures, filteredBy, periods } = read
  const first = [
    relation,
    dimension,
    purpose(measures),
    filteredBy === null ? '-' : FILTERED_BY[filteredBy],
  ]
  return periods.map((period, i) => [
    ...(i === 0 ? first : first.map(() => '')),
    periodText(period),
  ])
}

const passedOverTable = (passedOver: Explanation['passedOver']): string =>
  formatTable([
    ['NOT READ', 'FOR', 'WHY'],
    ...passedOver.map(({ relation, measures, why }) => [relation, purpose(measures), why]),
  ])

const purpose = (measures: readonly string[]): string =>
  measures.length === 0 ? 'which groups there are' : formatList(measures)

const periodText = ({ from, to }: Period): string => `${from} to ${to}`

const runTable = ({ rowsRead, bytesRead, rows, ms }: NonNullable<Explanation['run']>): string =>
  formatTable([
    ['rows read', formatNumber(rowsRead)],
    ['bytes read', formatNumber(bytesRead)],
    ['rows', formatNumber(rows)],
    ['ms', formatNumber(ms)],
  ])
