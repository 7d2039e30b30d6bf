/** An operation that deletes reports what was deleted, also if another process has finished what it had begun. */
import { expect, test } from '@jest/globals'
import type { ManagementContext } from '../../../src/management/context.js'
import {
  findOperation,
  startProjectDeletion,
  startUserDeletion,
} from '../../../src/management/operations.js'
import { toCluster } from '../../../src/cluster/cluster.js'
import { breakAfter, releaseLease } from '../../support/store/breaking.js'
import { withDatabase } from '../../support/store/database.js'
import { finishInterruptedWork } from '../../support/store/loading.js'
import { newProject, NOW, send } from '../../support/world/world.js'
import { runOperationsOf } from './management.js'

const database = withDatabase()

const LEASES = ['operations', 'loader', 'projects'] as const
const USER_IDS = ['a', 'b', 'x']
const FOUND = {
  users: { events: 2, users: 2, unknownUserIds: ['x'] },
  project: { events: 3, users: 3, unknownUserIds: [] },
}

test.each([
  ['users', /INSERT INTO removals/],
  ['users', /DELETE FROM events/],
  ['users', /DELETE FROM users/],
  ['project', /INSERT INTO removals/],
  ['project', /DELETE FROM events/],
  ['project', /DELETE FROM projects/],
] as const)('a deletion of %s that is interrupted after %s', async (kind, last) => {
  const { store } = database
  const project = await newProject(store)
  const event = { name: 'pageview', timestamp: '2026-03-09T10:00:00Z', path: '/' }
  await send(
    store,
    project,
    ['a', 'b', 'c'].map((user_id) => ({ ...event, user_id })),
  )
  const context: ManagementContext = {
    cluster: toCluster(store),
    actor: 'test',
    now: () => NOW,
  }
  const { id } =
    kind === 'users'
      ? await startUserDeletion(context, project, USER_IDS)
      : await startProjectDeletion(context, project)
  const broken = { ...store, writer: breakAfter(store.writer, last) }
  await expect(runOperationsOf(broken, NOW)).rejects.toThrow()
  for (const lease of LEASES) await releaseLease(store, lease)
  await finishInterruptedWork(store.writer)
  await runOperationsOf(store, NOW)
  expect(await findOperation(store.writer, id)).toMatchObject({
    state: 'done',
    result: FOUND[kind],
    request: null,
  })
})
