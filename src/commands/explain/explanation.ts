/** What `tallyhouse explain` shows about a response. */
import type { PlanDescription } from '../../analytics/plan/plan.js'
import type { QueryCost } from '../../clickhouse/connection.js'
import type { Statement } from '../../clickhouse/sql.js'
import type { LoggedCost } from '../../cluster/shard-costs.js'
import type { Period } from '../../contract/api.js'

/** How a response is planned. */
export interface Description {
  readonly period: Period
  /** One plan; or several by what they are for, none if nothing is read. */
  readonly plan: PlanDescription | Plans
}

export type Plans = Readonly<Record<string, PlanDescription>>

/** Whether a response has one plan. */
export const isSinglePlan = (plan: Description['plan']): plan is PlanDescription => 'reads' in plan

export interface Explanation {
  readonly description: Description
  /** The names of the shards that are read; absent for a store that is no shard. */
  readonly shards?: readonly string[]
  /** In the order in which they ran. The second one reads totals that no row carries. None: nothing is read. */
  readonly statements: readonly ExplainedStatement[]
  /** The cost of running the query, and the rows it returned; null if it failed, or nothing is read. */
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
