/** What viewers of public dashboards are told of how a request is answered: what is read and why, without SQL and sizes. */
import type { Explanation } from '../../analytics/explain-operation.js'

/** Keeps what viewers may know. */
export const keepWords = ({ plan, statement, ...rest }: Explanation): Explanation => ({
  ...rest,
  plan: withoutCosts(plan),
  estimatedRows: null,
  ...(statement === undefined ? {} : { statement: { ...statement, sql: '', parameters: {} } }),
})

/** Returns a plan without what its ways of reading cost, and so the plans in it. */
const withoutCosts = (plan: object): object =>
  JSON.parse(
    JSON.stringify(plan, (name, value: unknown) => (name === 'considered' ? [] : value)),
  ) as object
