/** Every response about a project across shards is of one state of its data, also while users are deleted from one of the shards, or from both. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { RunningService } from '../../../src/bootstrap/serving/start-service.js'
import { deleteUsersFromShards } from '../../../src/deletion/delete-users.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { startCluster, type TestCluster } from '../../support/cluster/cluster.js'
import { newWideProject, sendToShards } from '../../support/cluster/wide-world.js'
import { createContext } from '../../support/store/loading.js'
import { createKeys, type TestKeys } from '../../support/world/keys.js'
import { watchChange } from '../../support/world/one-moment.js'
import { startTestService } from '../../support/world/service.js'
import { NOW } from '../../support/world/world.js'

let cluster: TestCluster
let keys: TestKeys
let service: RunningService
let project: StoredProject

const EVENTS = Array.from({ length: 400 }, (_, n) => ({
  user_id: `u${n % 40}`,
  path: `/${n % 5}`,
  country: n % 3 === 0 ? 'FR' : 'DE',
  timestamp: new Date(NOW.getTime() - n * 7_000_000).toISOString(),
}))

beforeAll(async () => {
  cluster = await startCluster(2)
  const { store } = cluster.home
  keys = await createKeys(store)
  service = await startTestService({
    store,
    cluster,
    now: () => NOW,
    env: { CACHE_MB: '0', RATE_LIMIT: '0' },
  })
  project = await newWideProject(cluster, cluster.shards)
  await sendToShards(
    cluster,
    [project],
    EVENTS.map((event) => ({ ...event, project: project.id })),
  )
})
afterAll(async () => {
  await service.stop()
  await keys.remove()
  await cluster.stop()
})

test.each([
  { of: 'one shard', users: ['u1'] },
  { of: 'both shards', users: ['u3', 'u4', 'u5', 'u6', 'u7', 'u8'] },
])('while users of $of are deleted', async ({ users }) => {
  const key = await keys.issue(project.id, NOW, ['read', 'export'])
  const shards = cluster.shards.map((shard) => ({ ...shard, loader: createContext() }))
  const remove = () =>
    deleteUsersFromShards(shards, project.id, users, { check: () => Promise.resolve() })
  const { asked, mixed } = await watchChange({ address: () => service.address, key }, remove)
  expect(mixed).toEqual([])
  expect(asked).toBeGreaterThan(0)
})
