/** The handlers of the query API: from a validated request to the response of its use case. */
import type { RequestHandler, Response } from 'express'
import type { Plan } from '../../analytics/plan/plan.js'
import type { AnalyticsQueryRequest, AnalyticsQueryResponse, Project } from '../../contract/api.js'
import type { StoredProject } from '../../projects/project.js'
import { abortOnDisconnect } from '../server/abort-on-disconnect.js'
import { stoppingError } from '../server/graceful-shutdown.js'
import { getAuthContext } from '../server/request-context.js'
import { logPlan } from './plan-log.js'

/**
 * Runs a query on a project.
 *
 * @param signal aborts when the response can no longer be delivered
 * @param onPlan is called with the plan before the query runs
 */
export type RunQuery = (
  request: AnalyticsQueryRequest,
  project: StoredProject,
  signal: AbortSignal,
  onPlan: (plan: Plan) => void,
) => Promise<AnalyticsQueryResponse>

/** Reads the public fields of a project. */
export type ReadProject = (project: StoredProject, signal: AbortSignal) => Promise<Project>

/** POST /v1/analytics/query */
export function postAnalyticsQuery(runQuery: RunQuery, stopping: AbortSignal): RequestHandler {
  return async (request, response) => {
    const { project } = getAuthContext(request)
    await respond(response, stopping, (signal) =>
      runQuery(request.body as AnalyticsQueryRequest, project, signal, (plan) =>
        logPlan(request.log, plan),
      ),
    )
  }
}

/** GET /v1/project */
export function getProject(readProject: ReadProject, stopping: AbortSignal): RequestHandler {
  return async (request, response) => {
    const { project } = getAuthContext(request)
    await respond(response, stopping, async (signal) => ({
      project: await readProject(project, signal),
    }))
  }
}

/** Sends the result of `work`. Work that fails while the service is stopping fails because of that. */
async function respond(
  response: Response,
  stopping: AbortSignal,
  work: (signal: AbortSignal) => Promise<object>,
): Promise<void> {
  const signal = abortOnDisconnect(response, stopping)
  try {
    response.json(await work(signal))
  } catch (error) {
    throw stopping.aborted ? stoppingError() : error
  }
}
