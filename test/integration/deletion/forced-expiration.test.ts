/** An expiration that an operator asks for hides the days at once, and deletes them when services know that sessions are cut. */
import { expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { readMoment } from '../../../src/changes/moment.js'
import { forceExpiration } from '../../../src/deletion/expire-projects.js'
import { finishDeletions } from '../../../src/deletion/deletion-steps.js'
import type { LoaderContext } from '../../../src/ingest/loader/loader-context.js'
import { importEvents } from '../../../src/ingest/import/import-events.js'
import { createLogger } from '../../../src/lib/log.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { markCut } from '../../../src/projects/store.js'
import { agreeOn } from '../../support/store/clocks.js'
import { withDatabase } from '../../support/store/database.js'
import { countEvents } from '../../support/store/hidden.js'
import { splitIntoChunks, toLines } from '../../support/sources/sources.js'
import {
  checkRollups,
  createContext,
  deleteUser,
  finishInterruptedWork,
} from '../../support/store/loading.js'
import { ARRIVAL, newProject, send } from '../../support/world/world.js'

const database = withDatabase()

const NOW = new Date('2026-02-11T15:00:00Z')
const KEEP_DAYS = 25
/** Of one user before the first kept day, and of two after it. */
const EVENTS = [
  ['2026-01-02T10:00:00Z', 'old'],
  ['2026-02-02T10:00:00Z', 'kept'],
  ['2026-02-03T10:00:00Z', 'gone'],
].map(([timestamp, user_id]) => ({ timestamp: timestamp!, user_id: user_id!, path: '/' }))

/** Leaves what has just begun for later, as a service does. */
const PATIENT: LoaderContext = {
  ...createContext(),
  finishDeletions: (writer, options) =>
    finishDeletions(writer, { waitMs: 60_000, noticeMs: 1, ...options }),
}

/** Calls `work` while the expiration waits, which is ended then, as if its process were killed. */
async function whileItWaits(project: StoredProject, work: () => Promise<void>): Promise<void> {
  const ending = new AbortController()
  const { store } = database
  const options = {
    logger: createLogger('silent'),
    markCut: (id: string) => markCut(store.writer, id),
    waitMs: 600_000,
    stop: ending.signal,
  }
  const stores = [{ store, context: PATIENT }]
  const kept = { ...project, keepDays: KEEP_DAYS }
  const expiring = forceExpiration(options, stores, kept, [agreeOn(NOW)])
  const isBegun = async (): Promise<boolean> => {
    const moment = await readMoment(database.store.reader, [project.id], ending.signal)
    return moment?.isHiding === true
  }
  while (!(await isBegun())) await sleep(20)
  await work()
  ending.abort()
  await expect(expiring).rejects.toThrow()
}

test('the days are hidden at once, also while a user is deleted, and the next loader deletes them', async () => {
  const { store } = database
  const project = await newProject(store)
  await send(store, project, EVENTS)
  await whileItWaits(project, async () => {
    expect(await countEvents(store, project.id)).toEqual({ stored: 3, read: 2 })
    await deleteUser(store, project.id, 'gone', PATIENT)
    expect(await countEvents(store, project.id)).toEqual({ stored: 2, read: 1 })
  })
  await finishInterruptedWork(store.writer)
  expect(await countEvents(store, project.id)).toEqual({ stored: 1, read: 1 })
})

test('what is loaded for these days while it waits is deleted, too, and counted nowhere', async () => {
  const { store } = database
  const project = await newProject(store)
  await send(store, project, EVENTS)
  const late = ['2026-01-03T10:00:00Z', '2026-01-20T10:00:00Z'].map((timestamp) => ({
    ...{ timestamp, user_id: 'late', path: '/late' },
  }))
  await whileItWaits(project, async () => {
    await importEvents(store, splitIntoChunks(toLines(late)), {
      projectId: project.id,
      now: ARRIVAL,
      onRejected: () => undefined,
      loader: PATIENT,
    })
    expect(await countEvents(store, project.id)).toEqual({ stored: 5, read: 3 })
  })
  await finishInterruptedWork(store.writer)
  expect(await countEvents(store, project.id)).toEqual({ stored: 3, read: 3 })
  const check = await checkRollups(store.writer, { projectId: project.id })
  expect(check).toMatchObject({ different: 0 })
})
