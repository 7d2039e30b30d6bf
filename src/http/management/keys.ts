/** The operations on the API keys of projects. */
import { listKeys, type StoredKey } from '../../auth/api-keys.js'
import type { IssuedKey, Key, KeyList, NewKey } from '../../contract/management-api.js'
import { issueKey, revokeKey } from '../../management/keys.js'
import { parseTime } from './parse-time.js'
import { defineOperation, requireOwnProject, type ManagementOperation } from './management-api.js'

const KEYS = '/v1/projects/{id}/keys'

export const KEY_OPERATIONS: readonly ManagementOperation[] = [
  defineOperation({
    method: 'get',
    path: KEYS,
    scope: 'projects:read',
    run: async (api, request) => {
      const { id } = await requireOwnProject(api, request)
      const keys = await listKeys(api.cluster.home.store.writer, id)
      return { status: 200, body: { keys: keys.map(presentKey) } satisfies KeyList }
    },
  }),
  defineOperation<NewKey>({
    method: 'post',
    path: KEYS,
    scope: 'keys:write',
    run: async (api, request) => {
      const project = await requireOwnProject(api, request)
      const { name = '', scopes, expiresAt = null } = request.body
      const { key, token } = await issueKey(request.context, await api.openSigningKey(), {
        projectId: project.id,
        project,
        name,
        ...(scopes === undefined ? {} : { scopes }),
        expiresAt: expiresAt === null ? null : parseTime('expiresAt', expiresAt),
      })
      return { status: 201, body: { key: presentKey(key), secret: token } satisfies IssuedKey }
    },
  }),
  defineOperation({
    method: 'delete',
    path: `${KEYS}/{key}`,
    scope: 'keys:write',
    run: async (api, request) => {
      const { id } = await requireOwnProject(api, request)
      const revoked = await revokeKey(request.context, request.params['key'] ?? '', id)
      return { status: 200, body: presentKey(revoked) }
    },
  }),
]

const presentKey = (key: StoredKey): Key => ({
  id: key.id,
  projectId: key.projectId,
  name: key.name,
  scopes: key.scopes,
  createdAt: key.createdAt.toISOString(),
  expiresAt: key.expiresAt?.toISOString() ?? null,
  revokedAt: key.revokedAt?.toISOString() ?? null,
})
