/** Projects of a cluster: each change is at home and on the shards of the project, however it was interrupted. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Cluster } from '../../../src/cluster/cluster.js'
import {
  changeShards,
  createProject,
  markCut,
  rotateToken,
  updateProject,
} from '../../../src/cluster/directory.js'
import { placeProject } from '../../../src/cluster/place-project.js'
import { syncProjects } from '../../../src/cluster/sync-projects.js'
import { sql, statement, string, uint32 } from '../../../src/clickhouse/sql.js'
import { addDays } from '../../../src/lib/time.js'
import type { StoredProject } from '../../../src/projects/project.js'
import { findVersion, writeVersion, type ProjectVersion } from '../../../src/projects/versions.js'
import { createShards, withWriter, type TestShards } from '../../support/cluster/shard-databases.js'
import { recordWidening } from '../../support/cluster/widened.js'
import { breakAfter, BrokenError, releaseLease } from '../../support/store/breaking.js'

const NOW = new Date('2026-01-31T12:00:00.123Z')
const FIELDS = { name: 'Shop', domain: 'shop.example' }

let shards: TestShards
let cluster: Cluster

beforeAll(async () => {
  shards = await createShards(3)
  cluster = shards.cluster
})
afterAll(() => shards.drop())

/** Reads the current version of a project on each shard. */
const readAll = (id: string): Promise<readonly (ProjectVersion | undefined)[]> =>
  Promise.all(cluster.shards.map(({ store }) => findVersion(store.writer, id)))

const create = (id: string, names: readonly string[], within = cluster): Promise<StoredProject> =>
  createProject(within, { ...FIELDS, id }, NOW, names)

test.each([
  ['on the home', [], [1, 0, 0]],
  ['on another shard', ['shard3'], [1, 0, 1]],
  ['across shards', ['shard1', 'shard2'], [1, 1, 0]],
  ['across all shards', ['shard1', 'shard2', 'shard3'], [1, 1, 1]],
])('a project %s has its rows there', async (_what, names, want) => {
  const id = `made${names.join('')}`
  const project = await create(id, names)
  expect(project).toMatchObject({ id, shards: names })
  expect(await readAll(id)).toEqual(
    want.map((copies) => (copies === 1 ? { project, version: 1 } : undefined)),
  )
})

test('every change has the same version on all shards', async () => {
  const { token } = await create('changed', ['shard2', 'shard3'])
  const until = addDays(NOW, 7)
  const changes: readonly [() => Promise<unknown>, Partial<StoredProject>][] = [
    [() => updateProject(cluster, 'changed', { keepDays: 30 }), { keepDays: 30 }],
    [
      () => rotateToken(cluster, 'changed', until, NOW),
      { formerToken: { token, until }, keepDays: 30 },
    ],
    [() => markCut(cluster, 'changed'), { hasCutSessions: true }],
    [() => changeShards(cluster, 'changed', ['shard1', 'shard2', 'shard3']), {}],
  ]
  let version = 1
  for (const [change, want] of changes) {
    await change()
    version += 1
    const [home, ...copies] = await readAll('changed')
    expect(home).toMatchObject({ version, project: want })
    expect(copies).toEqual([home, home])
  }
  expect(await markCut(cluster, 'changed')).toBe(false)
})

test('the widths of a project that was widened twice stay through changes and copies', async () => {
  await create('widened', [])
  await recordWidening(cluster, { id: 'widened' }, ['shard1', 'shard3'], '2026-03-01')
  const ALL = ['shard1', 'shard3', 'shard2']
  await recordWidening(cluster, { id: 'widened' }, ALL, '2026-05-01')
  const want = {
    shards: ALL,
    formerWidths: [
      { width: 1, until: new Date('2026-03-01T00:00:00Z') },
      { width: 2, until: new Date('2026-05-01T00:00:00Z') },
    ],
    isWidening: false,
  }
  const [{ project, version }] = (await readAll('widened')) as [ProjectVersion]
  expect([version, project]).toMatchObject([3, want])
  const widening = { project: { ...project, isWidening: true }, version: 4 }
  await writeVersion(cluster.home.store.writer, widening)
  await syncProjects(cluster)
  expect(await readAll('widened')).toEqual([widening, widening, widening])
  await updateProject(cluster, 'widened', { name: 'Wide' })
  const renamed = { project: { ...widening.project, name: 'Wide' }, version: 5 }
  expect(await readAll('widened')).toEqual([renamed, renamed, renamed])
})

test('a shard that is away gets the change later', async () => {
  await create('late', ['shard1', 'shard3'])
  const away = shards.without('shard3')
  const { project, pending } = await updateProject(away, 'late', { name: 'Later' })
  expect([project.name, pending]).toEqual(['Later', ['shard3']])
  const { away: silent, ...nothing } = await syncProjects(away)
  expect([silent.map(({ name }) => name), nothing]).toEqual([
    ['shard3'],
    { copied: 0, removed: 0, kept: [] },
  ])
  expect(await syncProjects(cluster)).toEqual({ copied: 1, removed: 0, kept: [], away: [] })
  const want = { project, version: 2 }
  expect(await readAll('late')).toEqual([want, undefined, want])
  expect(await syncProjects(cluster)).toEqual({ copied: 0, removed: 0, kept: [], away: [] })
})

test('a project is not created while one of its shards is away', async () => {
  await expect(create('none', ['shard2', 'shard3'], shards.without('shard3'))).rejects.toThrow(
    'no project was created: shard3 does not answer',
  )
  expect((await readAll('none'))[0]).toBeUndefined()
  await create('none', ['shard3'])
  await syncProjects(cluster)
  const [home, ...copies] = await readAll('none')
  expect(copies).toEqual([undefined, home])
})

const NAMES = ['shard2', 'shard3']

/** Runs a change as a process that is killed after the statement on the shard that matches, and syncs afterwards. */
async function killAt(
  name: string,
  last: RegExp,
  change: (broken: Cluster) => Promise<unknown>,
): Promise<void> {
  const broken = withWriter(cluster, name, (writer) => breakAfter(writer, last))
  await expect(change(broken)).rejects.toThrow(BrokenError)
  await releaseLease(cluster.home.store, 'projects')
  await syncProjects(cluster)
}

test.each([
  ['shard2', /FROM projects/, 0],
  ['shard2', /INSERT INTO projects/, 0],
  ['shard3', /INSERT INTO projects/, 0],
  ['shard1', /CREATE TABLE/, 0],
  ['shard1', /INSERT INTO projects/, 1],
])('a creation that ends on %s at %s is whole or not at all', async (name, last, made) => {
  const id = `create-${name}-${last.source.length}`
  await killAt(name, last, (broken) => create(id, NAMES, broken))
  const [home, ...copies] = await readAll(id)
  expect(copies).toEqual([home, home])
  expect(home === undefined ? 0 : 1).toBe(made)
  if (home !== undefined) return
  const project = await create(id, NAMES)
  expect(await readAll(id)).toEqual(cluster.shards.map(() => ({ project, version: 1 })))
})

test('a creation may be repeated at once', async () => {
  const broken = withWriter(cluster, 'shard3', (writer) =>
    breakAfter(writer, /INSERT INTO projects/),
  )
  await expect(create('again', NAMES, broken)).rejects.toThrow(BrokenError)
  expect((await readAll('again')).map((one) => one?.version)).toEqual([undefined, 1, 1])
  const project = await create('again', NAMES)
  expect(await readAll('again')).toEqual(cluster.shards.map(() => ({ project, version: 1 })))
})

test.each([
  ['shard1', /CREATE TABLE/, 'Shop'],
  ['shard1', /FROM projects/, 'New'],
  ['shard1', /INSERT INTO projects/, 'New'],
  ['shard2', /INSERT INTO projects/, 'New'],
  ['shard3', /INSERT INTO projects/, 'New'],
])('a change that ends on %s at %s is the same everywhere', async (name, last, want) => {
  const id = `update-${name}-${last.source.length}`
  await create(id, NAMES)
  await killAt(name, last, (broken) => updateProject(broken, id, { name: 'New' }))
  const [home, ...copies] = await readAll(id)
  expect(copies).toEqual([home, home])
  expect(home?.project.name).toBe(want)
})

test('a copy is removed when its project moved away, unless the shard has data of it', async () => {
  for (const id of ['empty', 'full']) await create(id, ['shard2'])
  const old = cluster.shards[1]?.store.writer
  await old?.execute(
    statement(sql`INSERT INTO users (project_id, user_id, user) SELECT ${string('full')}, 'u', 1`),
  )
  for (const id of ['empty', 'full']) await changeShards(cluster, id, ['shard3'])
  expect(await syncProjects(cluster, { removes: false })).toMatchObject({ removed: 0 })
  expect(await syncProjects(cluster)).toEqual({
    copied: 0,
    removed: 1,
    kept: ['shard2: full'],
    away: [],
  })
  const places = await Promise.all(['empty', 'full'].map(readAll))
  expect(places.map((all) => all.map((one) => one?.version))).toEqual([
    [2, undefined, 2],
    [2, 1, 2],
  ])
  await expect(create('full', ['shard2'])).rejects.toThrow('the project full exists already')
  await old?.execute(statement(sql`DELETE FROM users WHERE project_id = ${string('full')}`))
  expect(await syncProjects(cluster)).toMatchObject({ removed: 1, kept: [] })
})

test('what a home of a backup has counts', async () => {
  const project = await create('restored', ['shard2'])
  await cluster.shards[1]?.store.writer.execute(
    statement(sql`
INSERT INTO projects SELECT * REPLACE ('Later' AS name, 9 AS version) FROM projects FINAL
WHERE id = ${string('restored')}`),
  )
  await syncProjects(cluster)
  const want = { project, version: 10 }
  expect(await readAll('restored')).toEqual([want, want, undefined])
})

test('changes and syncs of several processes end with the same versions everywhere', async () => {
  await create('busy', ['shard1', 'shard2', 'shard3'])
  const names = Array.from({ length: 6 }, (_, i) => `Name ${i}`)
  await Promise.all([
    ...names.map((name) => updateProject(cluster, 'busy', { name })),
    ...[1, 2, 3].map(() => syncProjects(cluster)),
  ])
  await syncProjects(cluster)
  const [home, ...copies] = await readAll('busy')
  expect(home?.version).toBe(7)
  expect(copies).toEqual([home, home])
})

test('new projects go where the fewest bytes are', async () => {
  const [, second, third] = cluster.shards
  for (const [shard, rows] of [
    [second, 2e6],
    [third, 1e6],
  ] as const) {
    await shard?.store.writer.execute(
      statement(sql`
INSERT INTO users (project_id, user_id, user)
SELECT 'large', lower(hex(randomString(8))), number FROM numbers(${uint32(rows)})`),
    )
  }
  expect(await placeProject(cluster, { width: 1 })).toEqual([])
  expect(await placeProject(cluster, { width: 1, shard: 'shard2' })).toEqual(['shard2'])
  expect(await placeProject(shards.without('shard1'), { width: 1 }).catch(() => 'away')).toBe(
    'away',
  )
  expect(await placeProject(cluster, { width: 2 })).toEqual(['shard1', 'shard2'])
  expect(await placeProject(cluster, { width: 3 })).toEqual(['shard1', 'shard2', 'shard3'])
})
