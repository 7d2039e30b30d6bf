/** A writer is suspended until others have its lease: nothing of it becomes visible without being announced. */
import { expect, test } from '@jest/globals'
import { randomUUID } from 'node:crypto'
import {
  announceChange,
  ChangeLostError,
  selectProject,
} from '../../../src/changes/announce-change.js'
import { endLeftChanges } from '../../../src/changes/left-changes.js'
import { readMoment } from '../../../src/changes/moment.js'
import { findProject } from '../../../src/projects/store.js'
import { pauseBefore } from '../../support/store/breaking.js'
import { withDatabase } from '../../support/store/database.js'
import { finishInterruptedWork, loadWaiting } from '../../support/store/loading.js'
import { feed } from '../../support/store/stream.js'
import { recordVersions, watchCloselyIn } from '../../support/store/versions.js'
import { newProject, runQuery } from '../../support/world/world.js'

const database = withDatabase()

const newId = (): string => `p-${randomUUID()}`

test('what another process has ended is not settled', async () => {
  const { writer } = database.store
  const read = watchCloselyIn(database.store)
  const [id, other] = [newId(), newId()]
  const change = await announceChange(writer, selectProject(id), 0)
  await change.settle()
  await endLeftChanges(writer)
  await expect(change.settle()).rejects.toThrow(ChangeLostError)
  const announced = await announceChange(writer, selectProject(other), 0)
  await change.end()
  await announced.settle()
  expect([await read(id), await read(other)]).toEqual([expect.any(String), undefined])
  await announced.end()
})

test('while a half-published change is left, no query is answered, whatever is announced meanwhile', async () => {
  const { writer } = database.store
  const id = newId()
  const read = () => readMoment(writer, [id], AbortSignal.timeout(60_000))
  const left = await announceChange(writer, selectProject(id), 0)
  await left.publish()
  const next = await announceChange(writer, selectProject(id), 0)
  expect(await read()).toBeUndefined()
  await next.publish()
  await next.end()
  expect(await read()).toBeDefined()
})

test('a process that ends what was left leaves what others announce meanwhile', async () => {
  const { writer } = database.store
  const read = watchCloselyIn(database.store)
  const [id, other] = [newId(), newId()]
  await announceChange(writer, selectProject(id), 0)
  const suspended = pauseBefore(writer, /INSERT INTO project_changes/, async () => {
    await announceChange(writer, selectProject(other), 0)
  })
  await endLeftChanges(suspended)
  expect([await read(id), await read(other)]).toEqual([expect.any(String), undefined])
  await endLeftChanges(writer)
})

test.each([
  ['staged', /INSERT INTO loading_kept/],
  ['published', /INSERT INTO users/],
])('a load that another process takes over before it is %s', async (_when, before) => {
  const { store } = database
  const { id } = await newProject(store)
  const project = (await findProject(store.reader, id))!
  const ask = async (): Promise<string> =>
    JSON.stringify(
      (await runQuery(store, project, { date_range: ['2026-06-01', '2026-06-30'] })).data,
    )
  await feed(store, id, [{ user_id: 'u1', path: '/', timestamp: '2026-06-15T10:00:00Z' }])
  const recorder = recordVersions(store, [id], ask)
  let starts = 0
  const suspended = pauseBefore(store.writer, before, async () => {
    // A rebuild, which leaves loads that are not staged. It ends what was announced.
    await finishInterruptedWork(store.writer)
    starts++
  })
  await loadWaiting(suspended).catch((error: unknown) => error)
  await loadWaiting(store.writer)
  const found = await recorder.stop()
  expect([starts, found.different]).toEqual([1, []])
  expect(JSON.parse(await ask())).toMatchObject([{ metrics: { pageviews: 1 } }])
})
