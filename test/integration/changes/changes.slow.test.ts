/** Changes of projects: what a service that watches them knows, and when. */
import { describe, expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { randomUUID } from 'node:crypto'
import {
  ALL_PROJECTS,
  announceChange,
  selectProject,
} from '../../../src/changes/announce-change.js'
import { endLeftChanges, forgetChanges } from '../../../src/changes/left-changes.js'
import { KNOWLEDGE_MS, MEMORY_MS, NOTICE_MS } from '../../../src/changes/timing.js'
import { watchChanges } from '../../../src/changes/watch-changes.js'
import type { Connection } from '../../../src/clickhouse/connection.js'
import { sql, statement } from '../../../src/clickhouse/sql.js'
import { expireProjects } from '../../../src/deletion/expire-projects.js'
import { createLogger } from '../../../src/lib/log.js'
import { breakAfter } from '../../support/store/breaking.js'
import { agreeOn } from '../../support/store/clocks.js'
import { withDatabase } from '../../support/store/database.js'
import {
  createContext,
  deleteProject,
  deleteUser,
  loadWaiting,
  rebuildRollups,
  resumeLoads,
} from '../../support/store/loading.js'
import { feed } from '../../support/store/stream.js'
import { newProject, send } from '../../support/world/world.js'
import { watchCloselyIn } from '../../support/store/versions.js'

const database = withDatabase()

const newId = (): string => `p-${randomUUID()}`

/** A watch whose every call looks. */
const watchClosely = () => watchCloselyIn(database.store)

describe('a project', () => {
  test('has the same version until it changes, and none while it does', async () => {
    const [id, other] = [newId(), newId()]
    const { writer } = database.store
    const read = watchClosely()
    const [before, ofOther] = [await read(id), await read(other)]
    expect([before, await read(id)]).toEqual([expect.any(String), before])
    const change = await announceChange(writer, selectProject(id), 0)
    expect([await read(id), await read(other)]).toEqual([undefined, ofOther])
    await change.end()
    const after = await read(id)
    expect([after, await read(other)]).toEqual([expect.any(String), ofOther])
    expect(after).not.toBe(before)
    expect(await watchClosely()(id)).toBe(after)
  })

  test('changes with all projects', async () => {
    const id = newId()
    const read = watchClosely()
    const before = await read(id)
    const change = await announceChange(database.store.writer, ALL_PROJECTS, 0)
    expect(await read(id)).toBeUndefined()
    await change.end()
    expect(await read(id)).not.toBe(before)
  })

  test('changes until the next holder of the lease ends what was left', async () => {
    const id = newId()
    const { writer } = database.store
    const read = watchClosely()
    const before = await read(id)
    const left = await announceChange(writer, selectProject(id), 0)
    await endLeftChanges(writer)
    const ended = await read(id)
    expect([ended, ended === before]).toEqual([expect.any(String), false])
    const again = await announceChange(writer, selectProject(id), 0)
    // The process that left it was only suspended.
    await left.end()
    expect(await read(id)).toBeUndefined()
    await again.end()
  })

  test('that was deleted has another version, and later changes of others are seen', async () => {
    const [id, other, another] = [newId(), newId(), newId()]
    const { writer } = database.store
    const read = watchClosely()
    const change = async (one: string) =>
      (await announceChange(writer, selectProject(one), 0)).end()
    for (const one of [other, another, id]) await change(one)
    const [before, ofOther] = [await read(id), await read(other)]
    await forgetChanges(writer, id)
    // Nobody looks until there are as many changes as before the deletion.
    for (const one of [other, another]) await change(one)
    expect(await read(id)).not.toBe(before)
    const later = await read(other)
    expect([later, later === ofOther]).toEqual([expect.any(String), false])
    expect(await watchClosely()(other)).toBe(later)
  })
})

test('a change of no project is not waited for', async () => {
  const none = sql`SELECT '' AS project_id WHERE false`
  const change = await announceChange(database.store.writer, none, 1_000_000)
  await change.settle()
  await change.end()
})

test('a writer waits for longer than a service uses what it knows', async () => {
  expect(NOTICE_MS).toBeGreaterThan(KNOWLEDGE_MS)
  const begun = performance.now()
  const change = await announceChange(database.store.writer, selectProject(newId()))
  await change.settle()
  expect(performance.now() - begun).toBeGreaterThan(KNOWLEDGE_MS)
  await change.end()
})

/** Counts looks, and fails or waits as told. */
function watchSlowly() {
  const state = { time: 0, wallTime: 0, looks: 0, load: 0, work: () => Promise.resolve() }
  const { reader } = database.store
  const counted: Connection = {
    ...reader,
    query: async (...query) => {
      state.looks++
      await state.work()
      return reader.query(...query)
    },
  }
  const getTime = (): Date => new Date(1_000_000 + state.time + state.wallTime)
  const startLoad = () => () => state.load
  return { state, watch: watchChanges(counted, getTime, () => state.time, startLoad) }
}

describe('a look', () => {
  test('serves everybody for a while, and is repeated before that ends', async () => {
    const { state, watch } = watchSlowly()
    const versions = await Promise.all([1, 2, 3].map(() => watch.readVersion('p')))
    expect([new Set(versions).size, state.looks]).toEqual([1, 1])
    state.time = 99
    await watch.readVersion('p')
    expect(state.looks).toBe(1)
    state.time = 101
    await watch.readVersion('p')
    expect(state.looks).toBe(2)
  })

  test('that fails or takes too long leaves the version unknown once the last one is old', async () => {
    const { state, watch } = watchSlowly()
    const version = await watch.readVersion('p')
    state.work = () => Promise.reject(new Error('away'))
    state.time = KNOWLEDGE_MS - 1
    expect(await watch.readVersion('p')).toBe(version)
    await sleep(1)
    state.time = KNOWLEDGE_MS
    expect(await watch.readVersion('p')).toBeUndefined()
    state.work = () => {
      state.time += KNOWLEDGE_MS
      return Promise.resolve()
    }
    expect(await watch.readVersion('p')).toBeUndefined()
    state.work = () => Promise.resolve()
    expect(await watch.readVersion('p')).toBe(version)
  })
})

test.each([
  ['is repeated once for all who wait for it', 0.9, 2],
  ['is not repeated if the process was idle: it is the store that is slow', 0.1, 1],
])('a look that takes too long %s', async (_what, load, looks) => {
  const { state, watch } = watchSlowly()
  state.load = load
  state.work = () => {
    state.time += state.looks === 1 ? KNOWLEDGE_MS : 0
    return Promise.resolve()
  }
  const versions = await Promise.all([1, 2, 3].map(() => watch.readVersion('p')))
  const expected: unknown = looks === 2 ? expect.any(String) : undefined
  expect([versions, state.looks]).toEqual([[expected, expected, expected], looks])
})

test('a look that always takes too long is repeated once', async () => {
  const { state, watch } = watchSlowly()
  state.load = 1
  state.work = () => {
    state.time += KNOWLEDGE_MS
    return Promise.resolve()
  }
  expect([await watch.readVersion('p'), state.looks]).toEqual([undefined, 2])
})

describe('the version that was seen last', () => {
  test('is unknown before the first look, and afterwards there without waiting, however old', async () => {
    const { state, watch } = watchSlowly()
    expect(watch.getLastVersion('p')).toBeUndefined()
    const version = await watch.readVersion('p')
    state.time = 10 * KNOWLEDGE_MS
    state.work = () => Promise.reject(new Error('away'))
    expect(watch.getLastVersion('p')).toBe(version)
    expect(await watch.readVersion('p')).toBeUndefined()
    expect(state.looks).toBe(2)
  })
})

describe('what is known', () => {
  test('is not used again in the moment in which it gets old', async () => {
    const { state, watch } = watchSlowly()
    const version = (await watch.readVersion('p'))!
    expect([watch.isCurrent('p', version), watch.isCurrent('p', 'x')]).toEqual([true, false])
    state.time = KNOWLEDGE_MS - 1
    expect(watch.isCurrent('p', version)).toBe(true)
    state.time = KNOWLEDGE_MS
    expect(watch.isCurrent('p', version)).toBe(false)
  })

  test.each([
    ['goes on while the machine stands still', KNOWLEDGE_MS],
    ['is put back', -1],
  ])('is not used when the time of day %s', async (_how, ms) => {
    const { state, watch } = watchSlowly()
    const version = (await watch.readVersion('p'))!
    state.wallTime = ms
    expect(watch.isCurrent('p', version)).toBe(false)
    expect([await watch.readVersion('p'), state.looks]).toEqual([version, 2])
    expect(watch.isCurrent('p', version)).toBe(true)
  })

  test('is read again after a long time, in which the store may have become another one', async () => {
    const { state, watch } = watchSlowly()
    const id = newId()
    const { writer } = database.store
    const before = await watch.readVersion(id)
    // The row of another store: it has a lower number than those of this one.
    await writer.execute(
      statement(sql`
INSERT INTO project_changes (project_id, change, is_open, announcement)
SELECT project_id, 1, false, generateUUIDv4() FROM (${selectProject(id)})`),
    )
    state.time += MEMORY_MS - 1
    expect(await watch.readVersion(id)).toBe(before)
    state.time += MEMORY_MS + 1
    expect(await watch.readVersion(id)).not.toBe(before)
  })
})

describe('what changes answers', () => {
  const EVENT = { user_id: 'u1', path: '/', timestamp: '2026-06-15T10:00:00Z' }

  test.each([
    ['is announced, and was not staged', /INSERT INTO project_changes[\s\S]*true, toUUID/],
    ['is half published', /INSERT INTO events/],
    [
      'is published, and not recorded',
      /INSERT INTO project_changes[\s\S]*is_open AND announcement/,
    ],
  ])('a load that is interrupted when it %s is ended by the next one', async (_when, last) => {
    const { store } = database
    const project = await newProject(store)
    const read = watchClosely()
    const before = await read(project.id)
    await feed(store, project.id, [EVENT])
    await expect(loadWaiting(breakAfter(store.writer, last))).rejects.toThrow()
    await resumeLoads(store.writer)
    await loadWaiting(store.writer)
    const after = await read(project.id)
    expect([after, after === before]).toEqual([expect.any(String), false])
    expect(await read('another project')).toEqual(expect.any(String))
  })

  test('a load that is half published', async () => {
    const { store } = database
    const project = await newProject(store)
    const read = watchClosely()
    await feed(store, project.id, [EVENT])
    await expect(loadWaiting(breakAfter(store.writer, /INSERT INTO events/))).rejects.toThrow()
    expect(await read(project.id)).toBeUndefined()
    expect(await read('another project')).toEqual(expect.any(String))
    await resumeLoads(store.writer)
    expect(await read(project.id)).toEqual(expect.any(String))
  })

  test('rows that are rejected change nothing', async () => {
    const { store } = database
    const project = await newProject(store)
    const read = watchClosely()
    const before = await read(project.id)
    await feed(store, project.id, [{ ...EVENT, timestamp: 'never' }])
    await feed(store, 'no-project', [EVENT])
    await loadWaiting(store.writer)
    expect(await read(project.id)).toBe(before)
  })

  test('an expiration', async () => {
    const { store } = database
    const project = await newProject(store, { keepDays: 19 })
    const times = ['2026-01-15T10:00:00Z', '2026-02-20T10:00:00Z']
    await send(
      store,
      project,
      times.map((timestamp) => ({ ...EVENT, timestamp })),
    )
    const read = watchClosely()
    const before = await read(project.id)
    const expire = () =>
      expireProjects(
        { store, context: createContext(), logger: createLogger('silent') },
        agreeOn(new Date('2026-02-20T12:00:00Z')),
      )
    // The first call only records that there is something to delete.
    await expire()
    expect(await read(project.id)).toBe(before)
    await expire()
    const after = await read(project.id)
    expect([after, after === before]).toEqual([expect.any(String), false])
    await expire()
    expect(await read(project.id)).toBe(after)
  })

  test('the deletion of a project, after which another one has its id', async () => {
    const { store } = database
    const project = await newProject(store)
    await send(store, project, [EVENT])
    const read = watchClosely()
    const before = await read(project.id)
    await deleteProject(store, project.id)
    await newProject(store, { id: project.id })
    const after = await read(project.id)
    expect([after, after === before]).toEqual([expect.any(String), false])
  })

  test('the deletion of a user, and a rebuild', async () => {
    const { store } = database
    const project = await newProject(store)
    await send(store, project, [EVENT, { ...EVENT, user_id: 'u2' }])
    const read = watchClosely()
    const versions = [await read(project.id)]
    await deleteUser(store, project.id, 'u1')
    versions.push(await read(project.id))
    await rebuildRollups(store.writer, { projectId: project.id })
    versions.push(await read(project.id))
    expect(new Set(versions).size).toBe(3)
    expect(versions).not.toContain(undefined)
  })
})
