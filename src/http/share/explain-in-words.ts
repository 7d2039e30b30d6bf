/** What viewers of public dashboards are told of how a request is answered: what is read and why, without SQL and sizes. */
import type {
  ExplainResponse,
  FunnelExplainResponse,
  RetentionExplainResponse,
} from '../../contract/api.js'
import type { ApiUseCases, RunOperation } from '../query/use-cases.js'

type Explanation = ExplainResponse | RetentionExplainResponse | FunnelExplainResponse
type Explain = Pick<ApiUseCases, 'explainQuery' | 'explainRetention' | 'explainFunnel'>

/** Returns the operations that explain, for viewers. */
export const explainInWords = ({
  explainQuery,
  explainRetention,
  explainFunnel,
}: Explain): Explain => ({
  explainQuery: keepWords(explainQuery),
  explainRetention: keepWords(explainRetention),
  explainFunnel: keepWords(explainFunnel),
})

const keepWords =
  <Body, Result extends Explanation>(
    explain: RunOperation<Body, Result>,
  ): RunOperation<Body, Result> =>
  async (...asked) => {
    const { plan, statement, ...rest } = await explain(...asked)
    return {
      ...rest,
      plan: withoutCosts(plan),
      estimatedRows: null,
      ...(statement === undefined ? {} : { statement: { ...statement, sql: '', parameters: {} } }),
    } as Result
  }

/** Returns a plan without what its ways of reading cost, and so the plans in it. */
const withoutCosts = <Plan extends object>(plan: Plan): Plan =>
  JSON.parse(
    JSON.stringify(plan, (name, value: unknown) => (name === 'considered' ? [] : value)),
  ) as Plan
