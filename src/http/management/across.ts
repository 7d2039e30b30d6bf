/** Queries across the projects that an admin key may see. */
import { ACROSS } from '../../analytics/across/operation.js'
import { MAX_PROJECTS } from '../../analytics/across/rules.js'
import type { AcrossRequest } from '../../contract/across-projects.js'
import { FieldValueError, MissingError } from '../../lib/errors.js'
import type { StoredProject } from '../../projects/project.js'
import { listProjectsAfter, listProjectsById } from '../../projects/store.js'
import {
  defineOperation,
  maySee,
  type ManagementApi,
  type ManagementOperation,
  type ManagementRequest,
} from './management-api.js'
import { listOrgs } from './pages.js'

export const ACROSS_OPERATIONS: readonly ManagementOperation[] = [
  defineOperation<AcrossRequest>({
    method: 'post',
    path: ACROSS.path,
    scope: 'analytics:read',
    checkedAs: ACROSS,
    run: async (api, request) => {
      const projects = await findProjects(api, request)
      return { status: 200, body: await api.queryProjects(request.body, projects, request.asker) }
    },
  }),
]

/**
 * Finds the projects of a request, in the order of their ids.
 *
 * @throws MissingError for one that does not exist or that the key may not see, FieldValueError for too many
 */
async function findProjects(
  { cluster }: ManagementApi,
  { key, body: { projects: ids, org } }: ManagementRequest<AcrossRequest>,
): Promise<readonly StoredProject[]> {
  const { writer } = cluster.home.store
  if (ids === undefined) {
    const found = await listProjectsAfter(writer, {
      after: '',
      limit: MAX_PROJECTS + 1,
      orgs: listOrgs(key.org, org),
    })
    if (found.length > MAX_PROJECTS) {
      const field = org === undefined ? 'projects' : 'org'
      throw new FieldValueError(field, `these are more than ${MAX_PROJECTS} projects: name them`)
    }
    return found.filter(({ isDeleting }) => !isDeleting)
  }
  const found = await listProjectsById(writer, ids)
  const seen = found.filter((project) => maySee(key, project) && !project.isDeleting)
  const missing = ids.find((id) => seen.every((project) => project.id !== id))
  if (missing !== undefined) throw new MissingError(`there is no project ${missing}`)
  return seen
}
