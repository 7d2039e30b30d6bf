/** The usage of projects, and their status. */
import type { ProjectStatus, UsagePage } from '../../contract/management-api.js'
import { FieldValueError } from '../../lib/errors.js'
import { startOfMonth } from '../../lib/time.js'
import { findProject, listProjectsAfter } from '../../projects/store.js'
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
import { parseTime } from './parse-time.js'
import { formatUsageCsv } from './usage-csv.js'

/** How many projects a page has by default. */
const PAGE = 100

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
      const { ids, nextCursor } = await listPage(api, request)
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

/** Lists the projects of a page that the key may see. */
async function listPage(
  { cluster }: ManagementApi,
  { key, query }: ManagementRequest,
): Promise<{ readonly ids: readonly string[]; readonly nextCursor: string | null }> {
  const { writer } = cluster.home.store
  const only = query['project']
  if (only !== undefined) {
    const project = await findProject(writer, only)
    return {
      ids: project !== undefined && maySee(key, project) ? [only] : [],
      nextCursor: null,
    }
  }
  const limit = Number(query['limit'] ?? PAGE)
  const found = await listProjectsAfter(writer, {
    after: query['cursor'] ?? '',
    limit: limit + 1,
    orgs: [key.org, query['org']].filter((org) => typeof org === 'string'),
  })
  const ids = found.slice(0, limit).map(({ id }) => id)
  return { ids, nextCursor: found.length > limit ? (ids.at(-1) ?? null) : null }
}

const parseDay = (field: string, text: string | undefined): Date | undefined =>
  text === undefined ? undefined : parseTime(field, `${text}T00:00:00Z`)
