/** The usage of projects, and their status. */
import type { ProjectStatus, UsagePage } from '../../contract/management-api.js'
import { FieldValueError } from '../../lib/errors.js'
import { startOfMonth } from '../../lib/time.js'
import { cutPage } from '../../management/page.js'
import { findProject, listProjectsAfter } from '../../projects/store.js'
import { listDeletedProjects, type DeletedProjects } from '../../usage/deleted-usage.js'
import { readProjectStatus } from '../../usage/project-status.js'
import { readUsage } from '../../usage/read-usage.js'
import {
  defineOperation,
  maySee,
  requireOwnProject,
  type ManagementApi,
  type ManagementOperation,
  type ManagementRequest,
} from './management-api.js'
import { listOrgs, readLimit } from './pages.js'
import { parseTime } from './parse-time.js'
import { formatUsageCsv } from './usage-csv.js'

export const USAGE_OPERATIONS: readonly ManagementOperation[] = [
  defineOperation({
    method: 'get',
    path: '/v1/usage',
    scope: 'usage:read',
    run: async (api, request) => {
      const { query, accept } = request
      const now = api.now()
      const from = parseDay('from', query['from']) ?? startOfMonth(now)
      const to = parseDay('to', query['to']) ?? now
      if (from > to) throw new FieldValueError('from', 'the first day is not after the last one')
      const { nextCursor, ...projects } = await listIds(api, request)
      const interval = query['interval'] === 'day' ? 'day' : 'month'
      const usage = await readUsage(api.cluster, { from, to, interval, ...projects })
      if (accept !== 'text/csv') {
        return { status: 200, body: { usage, nextCursor } satisfies UsagePage }
      }
      return {
        status: 200,
        text: formatUsageCsv(usage),
        headers: {
          'Content-Type': 'text/csv; charset=utf-8; header=present',
          ...(nextCursor === null ? {} : { 'Tally-Next-Cursor': nextCursor }),
        },
      }
    },
  }),
  defineOperation({
    method: 'get',
    path: '/v1/projects/{id}/status',
    scope: 'projects:read',
    run: async (api, request) => {
      const { id } = await requireOwnProject(api, request)
      const status = await readProjectStatus(api.cluster, id, api.now)
      const { rejectedLately } = status
      const samples = rejectedLately.samples.map((one) => ({ ...one, at: one.at.toISOString() }))
      const body: ProjectStatus = {
        ...status,
        firstEventAt: status.firstEventAt?.toISOString() ?? null,
        lastEventAt: status.lastEventAt?.toISOString() ?? null,
        rejectedLately: { ...rejectedLately, samples },
      }
      return { status: 200, body }
    },
  }),
]

/** A page of projects. Some of them are deleted. */
interface UsageProjects {
  readonly projectIds: readonly string[]
  readonly deleted: DeletedProjects
  readonly nextCursor: string | null
}

/** Lists the project of a request, or else a page of those that its key may see. */
async function listIds(api: ManagementApi, request: ManagementRequest): Promise<UsageProjects> {
  const { writer } = api.cluster.home.store
  const { key, query } = request
  const only = query['project']
  const orgs = listOrgs(key.org, query['org'])
  if (only !== undefined) {
    const project = await findProject(writer, only)
    const projectIds = project !== undefined && maySee(key, project) ? [only] : []
    return { projectIds, deleted: { ids: [only], orgs }, nextCursor: null }
  }
  const limit = readLimit(query)
  const asked = { after: query['cursor'] ?? '', limit: limit + 1, orgs }
  const living = (await listProjectsAfter(writer, asked)).map(({ id }) => id)
  const deleted = await listDeletedProjects(writer, asked)
  const all = [...new Set([...living, ...deleted])].toSorted()
  const { rows, nextCursor } = cutPage(all, limit, (id) => id)
  const onPage = new Set(rows)
  const keep = (ids: readonly string[]): readonly string[] => ids.filter((id) => onPage.has(id))
  return { projectIds: keep(living), deleted: { ids: keep(deleted), orgs }, nextCursor }
}

const parseDay = (field: string, text: string | undefined): Date | undefined =>
  text === undefined ? undefined : parseTime(field, `${text}T00:00:00Z`)
