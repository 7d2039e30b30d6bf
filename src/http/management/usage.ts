/** The usage of projects, and their status. */
import type { ProjectStatus, UsagePage } from '../../contract/management-api.js'
import { FieldValueError } from '../../lib/errors.js'
import { startOfMonth } from '../../lib/time.js'
import { findProject } from '../../projects/store.js'
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
import { listPage } from './pages.js'
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
      const { ids, nextCursor } = await listIds(api, request)
      const interval = query['interval'] === 'day' ? 'day' : 'month'
      const usage = await readUsage(api.cluster, { from, to, interval, projectIds: ids })
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

/** Lists the ids of the project of a request, or else of a page of those that its key may see. */
async function listIds(
  api: ManagementApi,
  request: ManagementRequest,
): Promise<{ readonly ids: readonly string[]; readonly nextCursor: string | null }> {
  const { key, query } = request
  const only = query['project']
  if (only === undefined) {
    const { projects, nextCursor } = await listPage(api, request)
    return { ids: projects.map(({ id }) => id), nextCursor }
  }
  const project = await findProject(api.cluster.home.store.writer, only)
  return { ids: project !== undefined && maySee(key, project) ? [only] : [], nextCursor: null }
}

const parseDay = (field: string, text: string | undefined): Date | undefined =>
  text === undefined ? undefined : parseTime(field, `${text}T00:00:00Z`)
