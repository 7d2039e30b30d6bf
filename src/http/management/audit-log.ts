/** The operation that lists the audit log. */
import type { Change, ChangePage } from '../../contract/management-api.js'
import { listChanges, type AuditEntry } from '../../management/audit-log.js'
import { defineOperation, type ManagementOperation } from './management-api.js'
import { readLimit } from './pages.js'

export const AUDIT_OPERATIONS: readonly ManagementOperation[] = [
  defineOperation({
    method: 'get',
    path: '/v1/audit-log',
    scope: 'audit:read',
    run: async ({ cluster }, { key, query }) => {
      const { entries, nextCursor } = await listChanges(cluster.home.store.writer, {
        org: key.org,
        projectId: query['project'],
        limit: readLimit(query),
        cursor: query['cursor'],
      })
      const changes = entries.map(presentChange)
      return { status: 200, body: { changes, nextCursor } satisfies ChangePage }
    },
  }),
]

const presentChange = (entry: AuditEntry): Change => ({ ...entry, at: entry.at.toISOString() })
