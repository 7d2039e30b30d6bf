/** The handlers of the operations: from a validated request to the answer of its use case. */
import type { RequestHandler, Response } from 'express'
import type { Plan } from '../../analytics/plan/planner.js'
import type { AnalyticsQueryRequest, AnalyticsQueryResponse, Project } from '../../contract/api.js'
import type { StoredProject } from '../../projects/project.js'
import { abandonment } from '../server/abort-on-disconnect.js'
import { callerOf } from './auth-context.js'
import { stoppingError } from '../server/graceful-shutdown.js'
import { logPlan } from './plan-log.js'

/**
 * Answers a question about a project, and tells `onPlan` how; `signal` comes when nobody waits for the
 * answer any more.
 */
export type Query = (
  request: AnalyticsQueryRequest,
  project: StoredProject,
  signal: AbortSignal,
  onPlan: (plan: Plan) => void,
) => Promise<AnalyticsQueryResponse>

/** Reads a project as its callers see it. */
export type ReadProject = (project: StoredProject, signal: AbortSignal) => Promise<Project>

/** POST /v1/analytics/query */
export function postAnalyticsQuery(query: Query, stopping: AbortSignal): RequestHandler {
  return async (request, response) => {
    const { project } = callerOf(request)
    await answer(response, stopping, (signal) =>
      query(request.body as AnalyticsQueryRequest, project, signal, (plan) =>
        logPlan(request.log, plan),
      ),
    )
  }
}

/** GET /v1/project */
export function getProject(readProject: ReadProject, stopping: AbortSignal): RequestHandler {
  return async (request, response) => {
    const stored = callerOf(request).project
    await answer(response, stopping, async (signal) => ({
      project: await readProject(stored, signal),
    }))
  }
}

async function answer(
  response: Response,
  stopping: AbortSignal,
  work: (signal: AbortSignal) => Promise<object>,
): Promise<void> {
  const signal = abandonment(response, stopping)
  try {
    response.json(await work(signal))
  } catch (error) {
    throw stopping.aborted ? stoppingError() : error
  }
}
