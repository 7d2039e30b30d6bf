/** Requests with an Idempotency-Key that were interrupted: sent again, they find what they have created. */
import { expect, test } from '@jest/globals'
import { toCluster } from '../../../src/cluster/cluster.js'
import type {
  ManagementRequest,
  ManagementResponse,
} from '../../../src/http/management/management-api.js'
import { runOnce } from '../../../src/http/management/idempotency.js'
import { createProject } from '../../../src/management/projects.js'
import { listProjects } from '../../../src/projects/store.js'
import { withDatabase } from '../../support/store/database.js'

const database = withDatabase()

test('a project whose creation was interrupted is created once', async () => {
  const request = {
    key: { id: 'adm_1' },
    body: { name: 'Shop', domain: 'shop.example' },
    context: {
      cluster: toCluster(database.store),
      actor: 'adm_1',
      now: () => new Date('2026-01-01'),
    },
  } as unknown as ManagementRequest
  const options = { idempotencyKey: 'signup-1', secret: 'x', target: '/v1/projects' }
  const created: object[] = []
  const create = async ({ context }: ManagementRequest): Promise<ManagementResponse> => {
    const fields = { name: 'Shop', domain: 'shop.example' }
    const project = await createProject(context, fields, { width: 1 })
    created.push(project)
    if (created.length === 1) throw new Error('the store does not answer')
    return { status: 201, body: { id: project.id } }
  }
  await expect(runOnce(create, request, options)).rejects.toThrow('does not answer')
  const sent = await runOnce(create, request, options)
  expect(await runOnce(create, request, options)).toEqual(sent)
  const stored = await listProjects(database.store.reader)
  expect(created).toEqual([...stored, ...stored])
  expect(sent).toEqual({ status: 201, body: { id: stored[0]?.id } })
})
