/** Runs the statement of a plan, and reads the totals beside its rows. */
import { describeMetric } from '../model/metrics.js'
import type { RunStatement } from './operation.js'
import type { Plan } from './plan/plan.js'
import type { Query } from './request/query.js'
import type { ResponseRows, StoredRow } from './response.js'
import { buildStatement } from './sql/build-statement.js'
import type { ShardGroup } from './sql/shards.js'

interface StatementsContext {
  readonly plan: Plan
  readonly nonce: string
  readonly group: ShardGroup | undefined
  readonly run: RunStatement
}

/**
 * Runs a plan as one statement, and adds the totals to its rows, if its query asks for them. Every row has them; without a row,
 * another statement reads them.
 */
export async function runPlan(
  plan: Plan,
  nonce: string,
  group: ShardGroup | undefined,
  run: RunStatement,
): Promise<ResponseRows> {
  const response = await run<StoredRow>(buildStatement(plan, nonce, group))
  const totals = await readTotals({ plan, nonce, group, run }, response.rows[0])
  return totals === undefined ? response : { ...response, totals }
}

/** Returns the totals from the first row of a response, or reads them if there is no row. Undefined if the query does not ask for them. */
export async function readTotals(
  { plan: { query, totals }, nonce, group, run }: StatementsContext,
  first: StoredRow | undefined,
): Promise<StoredRow | undefined> {
  if (totals === undefined) return undefined
  if (first !== undefined) return toTotals(first, query)
  const [row] = (await run<StoredRow>(buildStatement(totals, nonce, group))).rows
  if (row === undefined) throw new TypeError('totals are always one row')
  return row
}

/** Returns the totals from a row: each row has a copy. Without grouping, they are the metrics of the row. */
const toTotals = (row: StoredRow, { grouping, metrics, compared }: Query): StoredRow =>
  grouping.kind === 'none'
    ? row
    : {
        group_key: '',
        ...Object.fromEntries(
          metrics.flatMap((metric) => {
            const { key, totalKey, comparedKey, comparedTotalKey } = describeMetric(metric)
            const total = [key, row[totalKey] ?? null] as const
            return compared === undefined
              ? [total]
              : [total, [comparedKey, row[comparedTotalKey] ?? null] as const]
          }),
        ),
      }
