/** The state of operations, and the operations that delete users. */
import type { Operation, UserIds } from '../../contract/management-api.js'
import { MissingError } from '../../lib/errors.js'
import {
  findOperation,
  startUserDeletion,
  type StoredOperation,
} from '../../management/operations.js'
import {
  defineOperation,
  maySee,
  requireOwnProject,
  type ManagementApi,
  type ManagementOperation,
  type ManagementRequest,
  type ManagementResponse,
} from './management-api.js'

/** 1,000 ids of 200 characters. */
const MAX_USER_BYTES = 1_048_576

export const LONG_OPERATIONS: readonly ManagementOperation[] = [
  defineOperation({
    method: 'get',
    path: '/v1/operations/{id}',
    scope: 'projects:read',
    run: async ({ cluster }, { key, params }) => {
      const id = params['id'] ?? ''
      const operation = await findOperation(cluster.home.store.writer, id)
      if (operation === undefined || !maySee(key, operation)) {
        throw new MissingError(`there is no operation ${id}`)
      }
      return { status: 200, body: presentOperation(operation) }
    },
  }),
  // Before the path of a user, which matches `delete`, too.
  defineOperation<UserIds>({
    method: 'post',
    path: '/v1/projects/{id}/users/delete',
    scope: 'users:delete',
    maxBytes: MAX_USER_BYTES,
    run: (api, request) => deleteUsers(api, request, request.body.userIds),
  }),
  defineOperation({
    method: 'delete',
    path: '/v1/projects/{id}/users/{user_id}',
    scope: 'users:delete',
    run: (api, request) => deleteUsers(api, request, [request.params['user_id'] ?? '']),
  }),
]

async function deleteUsers(
  api: ManagementApi,
  request: Pick<ManagementRequest, 'key' | 'params' | 'context'>,
  userIds: readonly string[],
): Promise<ManagementResponse> {
  const project = await requireOwnProject(api, request)
  return acceptOperation(api, await startUserDeletion(request.context, project, userIds))
}

/** Accepts a stored operation, and has it run soon. */
export function acceptOperation(
  { onOperation }: ManagementApi,
  operation: StoredOperation,
): ManagementResponse {
  onOperation()
  return {
    status: 202,
    body: presentOperation(operation),
    headers: { Location: `/v1/operations/${operation.id}` },
  }
}

export const presentOperation = (operation: StoredOperation): Operation => ({
  id: operation.id,
  kind: operation.kind,
  projectId: operation.projectId,
  state: operation.state,
  createdAt: operation.createdAt.toISOString(),
  endedAt: operation.endedAt?.toISOString() ?? null,
  progress: operation.progress,
  error: operation.error,
  result: operation.result,
})
