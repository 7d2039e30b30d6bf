/** The operations that `tallyhouse explain` explains: each validates a body, plans it, and runs its statements. */
import { NONCE } from '../../analytics/explain/describe-work.js'
import { describeRetentionPlans } from '../../analytics/explain/explain-retention.js'
import { prepareFunnel } from '../../analytics/funnel/query-funnel.js'
import { buildFunnelStatement } from '../../analytics/funnel/statement.js'
import { describePlan } from '../../analytics/plan/describe.js'
import {
  planAnalytics,
  type PlanDependencies,
  type QueriedProject,
} from '../../analytics/query-analytics.js'
import { formatPeriod } from '../../analytics/request/period.js'
import { prepareRetention } from '../../analytics/retention/query-retention.js'
import { buildRetentionStatement } from '../../analytics/retention/statement.js'
import { runPlan } from '../../analytics/rounds.js'
import type { Contract } from '../../http/validation/contract.js'
import type { Description } from './explanation.js'
import type { RunAnswer } from './run-explained.js'

/** An answer that has been planned. */
interface Prepared {
  readonly description: Description
  /** Undefined if nothing is read. */
  readonly answer: RunAnswer | undefined
}

/** Plans the answer to a validated request. @throws ApiError for a request that is refused */
export type Prepare = (project: QueriedProject, dependencies: PlanDependencies) => Promise<Prepared>

/** Validates a body, by the name of the operation. @throws ApiError VALIDATION_ERROR */
export const OPERATIONS = {
  query: async (contract: Contract, body: unknown): Promise<Prepare> => {
    const request = await contract.validateQuery(body)
    return async (project, dependencies) => {
      const plan = await planAnalytics(request, project, dependencies)
      return {
        description: { kind: 'plan', plan: describePlan(plan) },
        answer: (run) => runPlan(plan, NONCE, dependencies.group, run),
      }
    }
  },
  retention: async (contract: Contract, body: unknown): Promise<Prepare> => {
    const request = await contract.validateRetention(body)
    return async (project, dependencies) => {
      const { grid, plan } = await prepareRetention(request, project, dependencies)
      return {
        description: {
          kind: 'retention',
          period: formatPeriod(grid.period),
          plans: plan === undefined ? {} : describeRetentionPlans(plan),
        },
        answer: plan && ((run) => run(buildRetentionStatement(plan, NONCE, dependencies.group))),
      }
    }
  },
  funnel: async (contract: Contract, body: unknown): Promise<Prepare> => {
    const request = await contract.validateFunnel(body)
    return async (project, dependencies) => {
      const funnel = await prepareFunnel(request, project, dependencies)
      return {
        description: { kind: 'plan', plan: describePlan(funnel.plan) },
        answer: (run) => run(buildFunnelStatement(funnel, NONCE, dependencies.group)),
      }
    }
  },
}

export type ExplainedOperation = keyof typeof OPERATIONS
