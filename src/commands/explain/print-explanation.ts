/** Prints how a query runs, as tables or as JSON. */
import type { PlanDescription } from '../../analytics/plan/plan.js'
import { formatNumber } from '../../lib/counts.js'
import type { CommandContext } from '../shared/context.js'
import { formatJson, formatList, formatTable } from '../shared/output.js'
import {
  isSinglePlan,
  type Description,
  type ExplainedStatement,
  type Explanation,
  type Plans,
  type RunCost,
  type ShardCosts,
} from './explanation.js'
import { formatConsidered, formatNewUsers, formatPeriodText, formatPlan } from './format-plan.js'

const USER_COUNTING: Readonly<Record<PlanDescription['userCounting'], string>> = {
  all: 'counted for every group',
  page: 'counted only for the groups on the requested page',
  candidates: 'counted only for groups with enough events to be on the requested page',
}

/** Prints the plan, the statement and, if the query ran, its cost. */
export function printExplanation(
  { print }: CommandContext,
  explanation: Explanation,
  options: { readonly json?: boolean },
): void {
  print(options.json === true ? formatJson(toJson(explanation)) : formatText(explanation))
}

/** A single statement is a part of the explanation; several are its `statements`. */
function toJson({ description, shards, statements, run }: Explanation): object {
  const rest = { ...(shards === undefined ? {} : { shards }), ...toMembers(description) }
  const [only, ...others] = statements
  if (only === undefined || others.length > 0) return { ...rest, statements, run }
  const { sql, parameters } = only
  return { ...rest, sql, parameters, run }
}

const toMembers = ({ period, plan }: Description): object =>
  isSinglePlan(plan) ? plan : { period, ...plan }

function formatText({ description, statements, run, shards }: Explanation): string {
  return [
    formatTable([
      ...(shards === undefined ? [] : [['shards', formatList(shards)]]),
      ...describeHead(description),
    ]),
    ...(isSinglePlan(description.plan)
      ? formatPlans(description.plan)
      : formatPlansOfTable(description.plan)),
    ...(statements.length === 1
      ? statements.flatMap(formatStatement)
      : statements.flatMap((statement, i) => [
          `statement ${i + 1} of ${statements.length}`,
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

function describeHead({ period, plan }: Description): string[][] {
  if (!isSinglePlan(plan)) return [['period', formatPeriodText(period)]]
  const { reads, userCounting } = plan
  const countsUsers = reads.some(({ measures }) => measures.includes('users'))
  return [
    ['period', formatPeriodText(period)],
    ['users', countsUsers ? USER_COUNTING[userCounting] : 'not counted'],
  ]
}

function formatPlans(plan: PlanDescription): readonly string[] {
  const { totals, comparison, ranking } = plan
  return [
    ...(ranking === undefined
      ? []
      : ['the largest groups', ...formatPlan(ranking), 'their series']),
    ...formatPlan(plan),
    ...(totals === undefined ? [] : ['totals', ...formatPlan(totals)]),
    ...(comparison === undefined
      ? []
      : [`compared with ${formatPeriodText(comparison.period)}`, ...formatPlan(comparison)]),
  ]
}

/** Formats the plans of a retention table. */
function formatPlansOfTable({ cohorts, later }: Plans): readonly string[] {
  if (cohorts === undefined) return ['nothing is read: the whole table lies ahead']
  const { considered, newUsers } = cohorts
  return [
    'the cohorts',
    ...(considered.length === 0 ? [] : [formatConsidered(considered)]),
    ...formatNewUsers(newUsers),
    ...(later === undefined ? [] : ['who came after the period', ...formatPlan(later)]),
  ]
}

const formatStatement = ({ sql, parameters }: ExplainedStatement): readonly string[] => [
  sql,
  formatTable(Object.entries(parameters).map(([name, value]) => [name, JSON.stringify(value)])),
]

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
