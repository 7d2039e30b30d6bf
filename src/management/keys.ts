/** Issues and revokes the API keys of projects, and records who did. */
import * as keys from '../auth/api-keys.js'
import type { KeyRequest, StoredKey } from '../auth/api-keys.js'
import type { SigningKey } from '../auth/signing-key.js'
import { MissingError } from '../lib/errors.js'
import { requireProject } from '../projects/store.js'
import { recordChange } from './audit-log.js'
import { createId, type ManagementContext } from './context.js'

/**
 * Issues an API key. Its token is returned here and stored nowhere.
 *
 * @throws FieldValueError for an invalid field; MissingError for an unknown project; ConflictError for one that is being deleted
 */
export async function issueKey(
  context: ManagementContext,
  signingKey: SigningKey,
  request: KeyRequest,
): Promise<keys.IssuedKey> {
  const { store } = context.cluster.home
  const id = createId(context, 'key_', 20)
  const issued = await keys.issueKey(store, signingKey, { ...request, id }, context.now())
  const { name, scopes, expiresAt } = issued.key
  await recordChange(context, {
    action: 'key.issue',
    project: issued.project,
    target: id,
    after: { name, scopes, expiresAt },
  })
  return issued
}

/**
 * Revokes an API key for good. A key that is revoked already does not change.
 *
 * @param projectId the project that the key must belong to; undefined for any
 * @throws MissingError for an unknown key
 */
export async function revokeKey(
  context: ManagementContext,
  id: string,
  projectId?: string,
): Promise<StoredKey> {
  const { store } = context.cluster.home
  const now = context.now()
  const revoked = await keys.revokeKey(store, id, now, (key) => {
    if (projectId !== undefined && key.projectId !== projectId) {
      throw new MissingError(`there is no key ${id}`)
    }
  })
  if (revoked.revokedAt === now) {
    await recordChange(context, {
      action: 'key.revoke',
      project: await requireProject(store.writer, revoked.projectId),
      target: id,
      before: { name: revoked.name, scopes: revoked.scopes },
    })
  }
  return revoked
}
