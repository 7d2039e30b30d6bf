/** Prints how a query runs, as tables or as JSON. */
import type { NewUsersDescription, PlanDescription, Read } from '../analytics/plan/describe.js'
import type { ConsideredWay } from '../analytics/plan/plan.js'
import type { Period } from '../contract/api.js'
import type { QueryCost } from '../clickhouse/connection.js'
import type { Statement } from '../clickhouse/sql.js'
import type { LoggedCost } from '../cluster/shard-costs.js'
import type { CommandContext } from './shared/context.js'
import { listKeys } from '../lib/records.js'
import { formatJson, formatList, formatNumber, formatTable } from './shared/output.js'

export interface Explanation extends PlanDescription {
  /** The names of the shards that are read; absent for a store that is no shard. */
  readonly shards?: readonly string[]
  /** In the order in which they ran. Several: users were counted last across shards. */
  readonly statements: readonly ExplainedStatement[]
  /** The cost of running the query, and the rows it returned; null if it failed. */
  readonly run: (RunCost & Partial<ShardCosts>) | null
}

/** A statement of a query. */
export interface ExplainedStatement {
  readonly sql: string
  readonly parameters: Statement['query_params']
  /** Its own cost; null if it failed. */
  readonly run: RunCost | null
}

/** The cost of a statement, and the rows that it returned. */
export type RunCost = QueryCost & { readonly rows: number }

/** What a query across shards cost each of them, by its own log. A shard whose log is not readable is left out. */
export interface ShardCosts {
  /** What each shard did for its groups. Statements of one query are added up. */
  readonly shards: readonly (LoggedCost & { readonly name: string })[]
  /** What the first shard did besides: it analysed the statement, waited for the groups, and added them up. */
  readonly asking: Pick<LoggedCost, 'ms' | 'cpuMs'> | null
}

const USER_COUNTING: Readonly<Record<Explanation['userCounting'], string>> = {
  all: 'counted for every group',
  page: 'counted only for the groups on the requested page',
  candidates: 'counted only for groups with enough events to be on the requested page',
}

const FILTERED_BY: Readonly<Record<NonNullable<Read['filteredBy']>, string>> = {
  columns: 'its columns',
  entry: 'the entry page of the visit',
  value: 'the value it counts by',
  events: 'the events of each session',
}

/** Relations that are not called by the name of one table. */
const LABELS: Readonly<Partial<Record<Read['relation'], string>>> = {
  whole_sessions: 'sessions, and events of those that cross an edge of the period',
}

/** Prints the plan, the statement and, if the query ran, its cost. */
export function printExplanation(
  { print }: CommandContext,
  explanation: Explanation,
  options: { readonly json?: boolean },
): void {
  print(options.json === true ? formatJson(toJson(explanation)) : formatText(explanation))
}

/** A single statement is a part of the explanation; several are its `rounds`. */
function toJson({ statements, run, ...rest }: Explanation): object {
  const [only, ...others] = statements
  if (only === undefined || others.length > 0) return { ...rest, rounds: statements, run }
  const { sql, parameters } = only
  return { ...rest, sql, parameters, run }
}

function formatText(explanation: Explanation): string {
  const { period, reads, userCounting, totals, comparison, ranking } = explanation
  const { statements, run, shards } = explanation
  const countsUsers = reads.some(({ measures }) => measures.includes('users'))
  return [
    formatTable([
      ...(shards === undefined ? [] : [['shards', formatList(shards)]]),
      ['period', formatPeriodText(period)],
      ['users', countsUsers ? USER_COUNTING[userCounting] : 'not counted'],
    ]),
    ...(ranking === undefined
      ? []
      : ['the largest groups', ...formatPlan(ranking), 'their series']),
    ...formatPlan(explanation),
    ...(totals === undefined ? [] : ['totals', ...formatPlan(totals)]),
    ...(comparison === undefined
      ? []
      : [`compared with ${formatPeriodText(comparison.period)}`, ...formatPlan(comparison)]),
    ...(statements.length === 1
      ? statements.flatMap(formatStatement)
      : statements.flatMap((statement, i) => [
          `round ${i + 1} of ${statements.length}`,
          ...formatStatement(statement),
          ...(statement.run === null ? [] : [formatCost(statement.run)]),
        ])),
    ...(run === null || statements.length === 1 ? [] : ['in all']),
    ...(run === null ? [] : [formatCost(run)]),
    ...(run?.shards === undefined
      ? []
      : [formatShardCosts({ asking: null, ...run, shards: run.shards })]),
  ].join('\n\n')
}

const formatPlan = ({
  reads,
  rejected,
  considered,
  newUsers,
}: PlanDescription): readonly string[] => [
  formatTable([['READ', 'BY', 'FOR', 'FILTERED BY', 'PERIOD'], ...reads.flatMap(formatRead)]),
  ...(rejected.length === 0 ? [] : [formatRejected(rejected)]),
  ...(considered.length === 0 ? [] : [formatConsidered(considered)]),
  ...formatNewUsers(newUsers),
]

/** What each part of counting new users is for. */
const NEW_USERS: Readonly<Record<keyof NewUsersDescription, string>> = {
  users: 'new users: the users of each group',
  everyone: 'new users: the users of each bucket, whatever their events are',
  earlier: 'new users: the users before the period',
}

const formatNewUsers = (parts: NewUsersDescription | undefined): readonly string[] =>
  listKeys(NEW_USERS).flatMap((name) => {
    const part = parts?.[name]
    return part === undefined ? [] : [NEW_USERS[name], ...formatPlan(part)]
  })

const formatStatement = ({ sql, parameters }: ExplainedStatement): readonly string[] => [
  sql,
  formatTable(Object.entries(parameters).map(([name, value]) => [name, JSON.stringify(value)])),
]

/** Formats one line for a relation, and another for each further part of the period. */
function formatRead(read: Read): readonly (readonly string[])[] {
  const { relation, dimension = '-', measures, filteredBy, periods } = read
  const first = [
    LABELS[relation] ?? relation,
    dimension,
    formatPurpose(measures),
    filteredBy === null ? '-' : FILTERED_BY[filteredBy],
  ]
  return periods.map((period, i) => [
    ...(i === 0 ? first : first.map(() => '')),
    formatPeriodText(period),
  ])
}

const formatRejected = (rejected: Explanation['rejected']): string =>
  formatTable([
    ['NOT READ', 'FOR', 'REASON'],
    ...rejected.map(({ relation, measures, reason }) => [
      LABELS[relation] ?? relation,
      formatPurpose(measures),
      reason,
    ]),
  ])

const formatConsidered = (considered: Explanation['considered']): string =>
  formatTable([
    ['WAY', 'ESTIMATED CPU MS', ...(considered.some(isWide) ? ['ON SHARDS', 'ASKING'] : []), ''],
    ...considered.map((way) => [
      way.name,
      String(way.ms),
      ...(isWide(way) ? [way.ms - way.askingMs, way.askingMs].map((ms) => ms.toFixed(1)) : []),
      way.isChosen ? 'chosen' : '',
    ]),
  ])

const isWide = (way: ConsideredWay): way is ConsideredWay & { readonly askingMs: number } =>
  way.askingMs !== undefined

const formatPurpose = (measures: readonly string[]): string =>
  measures.length === 0 ? 'the groups' : formatList(measures)

const formatPeriodText = ({ from, to }: Period): string => `${from} to ${to}`

const formatCost = ({ rowsRead, bytesRead, rows, ms }: RunCost): string =>
  formatTable([
    ['rows read', formatNumber(rowsRead)],
    ['bytes read', formatNumber(bytesRead)],
    ['rows', formatNumber(rows)],
    ['ms', formatNumber(ms)],
  ])

const formatShardCosts = ({ shards, asking }: ShardCosts): string =>
  formatTable([
    ['SHARD', 'ROWS READ', 'BYTES READ', 'MS', 'CPU MS'],
    ...shards.map(({ name, rowsRead, bytesRead, ms, cpuMs }) => [
      name,
      ...[rowsRead, bytesRead, ms, cpuMs].map(formatNumber),
    ]),
    ...(asking === null
      ? []
      : [['asking', '-', '-', ...[asking.ms, asking.cpuMs].map(formatNumber)]]),
  ])
