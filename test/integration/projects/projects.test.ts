/** Projects on a real engine: creation, changes, lookups, and the time of the first event. */
import { expect, test } from '@jest/globals'
import { sql, statement, string, time } from '../../../src/clickhouse/sql.js'
import { findFirstEventTime } from '../../../src/projects/event-times.js'
import {
  createProject,
  findProject,
  findProjectByToken,
  listProjects,
  rotateToken,
  updateProject,
} from '../../../src/projects/store.js'
import { addDays } from '../../../src/lib/time.js'
import { withDatabase } from '../../support/store/database.js'

const NOW = new Date('2026-01-31T12:00:00.123Z')

const database = withDatabase()

async function addEvent(projectId: string, at: string): Promise<void> {
  await database.store.writer.execute(
    statement(sql`
      INSERT INTO events (project_id, timestamp, user, name)
      SELECT ${string(projectId)}, ${time(new Date(at))}, number + 1, 'pageview' FROM numbers(3)`),
  )
}

test('a project is read as it was created, with defaults for omitted fields', async () => {
  const made = await createProject(database.store, { name: 'Shop', domain: 'shop.example' }, NOW)
  expect(made).toEqual({
    id: expect.stringMatching(/^prj_[a-z0-9]{12}$/),
    org: null,
    name: 'Shop',
    domain: 'shop.example',
    timeZone: null,
    token: expect.stringMatching(/^tallypub_[a-z0-9]{30}$/),
    createdAt: NOW,
    hasPublicDashboard: false,
    embedOrigins: [],
    excludedIps: [],
    excludedCountries: [],
    retentionDays: null,
    keepDays: null,
    formerToken: null,
    isDeleting: false,
    hasCutSessions: false,
    shards: [],
    formerWidths: [],
    isWidening: false,
  })
  expect(await findProject(database.store.reader, made.id)).toEqual(made)
})

test('texts are stored unchanged', async () => {
  const name = `O'Neil "x" \\ {p0:String} -- ; DROP TABLE projects é ☕`
  const fields = {
    id: 'all',
    name,
    domain: 'all.example',
    timeZone: 'Asia/Kolkata',
    hasPublicDashboard: true,
    embedOrigins: ['https://intranet.example'],
    excludedIps: ['192.0.2.1', '2001:db8::1'],
    excludedCountries: ['DE', 'KP'],
    retentionDays: 90,
  }
  const made = await createProject(database.store, fields, NOW)
  expect(await findProject(database.store.reader, 'all')).toEqual(made)
  expect(made).toMatchObject(fields)
})

test('concurrent creations with one id create one project', async () => {
  const create = (name: string) =>
    createProject(database.store, { id: 'once', name, domain: 'once.example' }, NOW).then(
      () => name,
      (error: unknown) => (error as Error).message,
    )
  const outcomes = await Promise.all(['a', 'b', 'c'].map(create))
  const refusals = outcomes.filter((outcome) => outcome === 'the project once exists already')
  expect(refusals).toHaveLength(2)
  const project = await findProject(database.store.reader, 'once')
  expect(outcomes).toContain(project?.name)
})

test('an update changes only the fields that it names', async () => {
  const { store } = database
  const made = await createProject(store, { id: 'u', name: 'U', domain: 'u.example' }, NOW)
  const changes = { excludedIps: ['192.0.2.1'], retentionDays: 30, hasPublicDashboard: true }
  expect(await updateProject(store, 'u', changes)).toEqual({ ...made, ...changes })
  expect(await updateProject(store, 'u', { retentionDays: null, excludedIps: [] })).toEqual({
    ...made,
    hasPublicDashboard: true,
  })
  await Promise.all([
    updateProject(store, 'u', { name: 'V' }),
    updateProject(store, 'u', { domain: 'v.example' }),
  ])
  expect(await findProject(store.reader, 'u')).toEqual({
    ...made,
    hasPublicDashboard: true,
    name: 'V',
    domain: 'v.example',
  })
})

test('an unknown project is neither found nor updated', async () => {
  expect(await findProject(database.store.reader, 'nobody')).toBeUndefined()
  await expect(updateProject(database.store, 'nobody', { name: 'x' })).rejects.toThrow(
    'there is no project nobody',
  )
})

test('the list has each project once, the oldest first', async () => {
  const early = new Date('2020-01-01T00:00:00Z')
  await createProject(database.store, { id: 'early', name: 'E', domain: 'e.example' }, early)
  const ids = (await listProjects(database.store.reader)).map(({ id }) => id)
  expect(ids[0]).toBe('early')
  expect([...ids].sort()).toEqual(['all', 'early', 'once', expect.stringMatching(/^prj_/), 'u'])
})

test('the first event is the earliest of the project, in whatever order events arrive', async () => {
  const { reader } = database.store
  expect(await findFirstEventTime(reader, 'f')).toBeNull()
  await addEvent('a', '2019-01-01T00:00:00Z')
  await addEvent('f', '2026-03-02T00:00:00.001Z')
  expect(await findFirstEventTime(reader, 'f')).toEqual(new Date('2026-03-02T00:00:00.001Z'))
  await addEvent('f', '2026-03-01T23:59:59.999Z')
  await addEvent('f', '2026-03-01T10:00:00Z')
  await addEvent('f', '2027-01-01T00:00:00Z')
  expect(await findFirstEventTime(reader, 'f')).toEqual(new Date('2026-03-01T10:00:00Z'))
  await addEvent('f', '2025-12-31T23:59:59.999Z')
  expect(await findFirstEventTime(reader, 'f')).toEqual(new Date('2025-12-31T23:59:59.999Z'))
  expect(await findFirstEventTime(reader, 'g')).toBeNull()
})

test('a new public token replaces the former, which ends at the given time', async () => {
  const { store } = database
  const made = await createProject(store, { name: 'Rotated', domain: 'r.example' }, NOW)
  const find = async (token: string) => (await findProjectByToken(store.reader, token))?.id
  const future = addDays(new Date(), 1)

  const first = await rotateToken(store, made.id, future, NOW)
  expect(first).toEqual({
    ...made,
    token: expect.stringMatching(/^tallypub_[a-z0-9]{30}$/),
    formerToken: { token: made.token, until: future },
  })
  expect(first.token).not.toBe(made.token)
  expect(await findProject(store.reader, made.id)).toEqual(first)
  expect([await find(made.token), await find(first.token)]).toEqual([made.id, made.id])

  // Only the last of two former tokens is kept.
  const second = await rotateToken(store, made.id, addDays(NOW, 1), NOW)
  expect(second.formerToken).toEqual({ token: first.token, until: addDays(NOW, 1) })
  const found = [await find(made.token), await find(first.token), await find(second.token)]
  // The former token has ended by the clock of the store.
  expect(found).toEqual([undefined, undefined, made.id])

  const third = await rotateToken(store, made.id, NOW, NOW)
  expect(third.formerToken).toBeNull()
  expect([await find(second.token), await find(third.token), await find('')]).toEqual([
    undefined,
    made.id,
    undefined,
  ])
  await expect(rotateToken(store, 'nobody', NOW, NOW)).rejects.toThrow('there is no project nobody')
})
