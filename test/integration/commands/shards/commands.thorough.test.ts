/** The commands over three shards: embedded engines that a service runs. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { openCluster, type OpenedCluster } from '../../../../src/bootstrap/open-cluster.js'
import { sql, statement } from '../../../../src/clickhouse/sql.js'
import { addMigrate } from '../../../../src/commands/migrate.js'
import { addBackup } from '../../../../src/commands/operate/backup.js'
import { addDoctor } from '../../../../src/commands/operate/doctor.js'
import { addRestore } from '../../../../src/commands/operate/restore.js'
import { addProject } from '../../../../src/commands/project.js'
import { addRollups } from '../../../../src/commands/rollups.js'
import type { AddCommand } from '../../../../src/commands/shared/context.js'
import { addUser } from '../../../../src/commands/user.js'
import { readConfig } from '../../../../src/config/config.js'
import { runCommand, type CommandResult } from '../../../support/cli/commands.js'
import { send, type SentEvent } from '../../../support/world/world.js'

const NOW = new Date('2026-01-31T12:00:00Z')
const NAMES = ['shard1', 'shard2', 'shard3']

let folder: string
let opened: OpenedCluster

const getEnv = (dataDir: string): NodeJS.ProcessEnv => ({ DATA_DIR: dataDir, EMBEDDED_SHARDS: '3' })

/** Opens the stores as a service does, whose engines the commands use. */
const open = (dataDir: string): Promise<OpenedCluster> =>
  openCluster(readConfig(getEnv(dataDir)), () => ({ purpose: 'tallyhouse serve', access: 'write' }))

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-shards-'))
  opened = await open(path.join(folder, 'data'))
})
afterAll(async () => {
  await opened.close()
  await rm(folder, { recursive: true, force: true })
})

const run = (add: AddCommand, args: string, dataDir = 'data'): Promise<CommandResult> =>
  runCommand(add, args.split(' '), { now: NOW, env: getEnv(path.join(folder, dataDir)) })

/** Creates a project; returns its shards as `project create` prints them. */
async function create(id: string, options = ''): Promise<string | undefined> {
  const args = `project create --id ${id} --name ${id} --domain ${id}.example${options}`
  const { stdout, error } = await run(addProject, args)
  return error ?? /^shards +(.*)$/m.exec(stdout)?.[1]
}

const events = (...users: readonly string[]): readonly SentEvent[] =>
  users.map((user_id) => ({ timestamp: '2026-01-30T10:00:00Z', user_id, path: '/' }))

/** Loads events of a user into a shard. */
async function load(shard: string, id: string, ...users: readonly string[]): Promise<void> {
  const one = opened.stores.find(({ name }) => name === shard)
  if (one === undefined) throw new Error(`no ${shard}`)
  await send(one.store, { id }, events(...users))
}

test('a project is created where it is told to, and shown with its shards', async () => {
  expect(await create('first')).toBe('shard1')
  expect(await create('second')).toBe('shard2')
  expect(await create('own', ' --shard shard1')).toBe('shard1')
  expect(await create('wide', ' --width 3')).toBe('shard1, shard2, shard3')
  expect(await create('pair', ' --width 2')).toBe('shard1, shard2')
  expect(await create('none', ' --width 4')).toBe(
    'there is no group of 4 shards: the width is 1, 2 or 3',
  )
  expect(await create('none', ' --shard shard9')).toBe(
    'there is no shard shard9: it is shard1, shard2 or shard3',
  )
  const list = await run(addProject, 'project list')
  expect(list.stdout.split('\n').map((line) => line.split(/ {2,}/).at(-1))).toEqual([
    ...['SHARDS', 'shard1', 'shard1', 'shard1, shard2', 'shard2', 'shard1, shard2, shard3', ''],
  ])
  const { stdout } = await run(addProject, 'project show pair --json')
  expect(JSON.parse(stdout)).toMatchObject({ id: 'pair', shards: ['shard1', 'shard2'] })
})

test('what a wide project has is shown of all shards', async () => {
  await load('shard2', 'wide', 'a')
  await load('shard3', 'wide', 'b', 'c')
  for (const { store } of opened.stores) {
    await store.writer.execute(
      statement(sql`
INSERT INTO usage (project_id, day, reason, events) SELECT 'wide', toDate('2026-01-01'), 'bot', 2`),
    )
  }
  const { stdout } = await run(addProject, 'project show wide --json')
  expect(JSON.parse(stdout)).toMatchObject({
    firstEventAt: '2026-01-30T10:00:00.000Z',
    exclusions: [{ day: '2026-01-01', bot: 6, ip: 0, country: 0 }],
  })
  expect((await run(addUser, 'user delete c --project wide')).error).toBe(
    'this would permanently delete user c of project wide, with 1 event in 1 session: add --yes to confirm',
  )
  expect((await run(addUser, 'user delete c --project wide --yes --wait')).stdout).toBe(
    'deleted user c of project wide, with 1 event in 1 session\n',
  )
  expect((await run(addUser, 'user delete c --project wide --yes')).error).toBe(
    'there is no user c in project wide',
  )
  const several = await run(addUser, 'user delete a c b --project wide')
  expect(several.stderr).toBe('1 id of no user in project wide: c\n')
  expect(several.error).toBe(
    'this would permanently delete 2 users of project wide, with 2 events in 2 sessions: add --yes to confirm',
  )
  expect((await run(addProject, 'project delete wide')).error).toBe(
    'this would permanently delete project wide, with 2 events of 2 users and 0 keys: add --yes to confirm',
  )
})

test('a change is on all shards', async () => {
  const { stdout, error } = await run(addProject, 'project update wide --keep-days 100')
  expect(error).toBeUndefined()
  expect(stdout).toMatch(/^data is kept +100 days$/m)
  expect((await run(addProject, 'project rotate-token wide')).error).toBeUndefined()
  const { stdout: doctor } = await run(addDoctor, 'doctor --json')
  expect(pickRows(doctor, NAMES)).toEqual([
    ['versions of shards', 'ok'],
    ['clocks of shards', 'ok'],
    ['shards of projects', 'ok'],
    ['copies of projects', 'ok'],
    ['moves of projects', 'ok'],
  ])
})

/** Returns the checks that are not of one shard. */
const pickRows = (json: string, names: readonly string[]): readonly (readonly [string, string])[] =>
  (JSON.parse(json) as readonly { name: string; verdict: string }[])
    .slice(3)
    .filter(({ name }) => !names.some((shard) => name.startsWith(`${shard}: `)))
    .map(({ name, verdict }) => [name, verdict] as const)

test('doctor names each shard, and what is wrong between them', async () => {
  const { stdout } = await run(addDoctor, 'doctor --json')
  const names = (JSON.parse(stdout) as readonly { name: string }[]).map(({ name }) => name)
  const of = (shard: string): readonly string[] =>
    names
      .filter((name) => name.startsWith(`${shard}: `))
      .map((name) => name.slice(shard.length + 2))
  expect(of('shard1')).toContain('public keys')
  expect(of('shard2')).toEqual(of('shard1').filter((name) => name !== 'public keys'))
  expect(of('shard3')).toEqual(of('shard2'))

  const [home, second] = opened.stores
  await home.store.writer.execute(
    statement(sql`
INSERT INTO projects (id, name, domain, token, created_at, shards, version)
SELECT 'lost', 'Lost', 'lost.example', 'tallypub_lost', now64(3), ['shard9'], 1`),
  )
  await second?.store.writer.execute(statement(sql`DELETE FROM projects WHERE id = 'pair'`))
  const sick = JSON.parse((await run(addDoctor, 'doctor --json')).stdout) as readonly object[]
  expect(sick.slice(-3, -1)).toEqual([
    {
      name: 'shards of projects',
      verdict: 'fail',
      finding: 'lost lives on shard9, which is not configured',
      advice:
        'add the shard to CLUSTER, or raise EMBEDDED_SHARDS: until then the project cannot be used',
    },
    {
      name: 'copies of projects',
      verdict: 'warn',
      finding: 'shard2 lacks the current version of 1 project',
      advice: 'start "tallyhouse serve", which repairs them; look at data of projects that remain',
    },
  ])
  expect((await run(addProject, 'project list')).stdout).toMatch(/^lost .* shard9$/m)
  expect((await run(addProject, 'project show lost')).error).toBe(
    'the project lost lives on shard9, which is not configured',
  )
  await home.store.writer.execute(statement(sql`DELETE FROM projects WHERE id = 'lost'`))
  expect((await run(addProject, 'project update pair --name Pair')).error).toBeUndefined()
})

test('rollups are checked and rebuilt on the shards of a project, or on all', async () => {
  const check = async (options: string): Promise<readonly string[]> =>
    (await run(addRollups, `rollups ${options}`)).stderr.split('\n').slice(0, -1)
  expect(await check('check --project wide')).toEqual([
    ...['shard1: 0 groups differ', 'shard2: 2026-01 compared', 'shard2: 0 groups differ'],
    ...['shard3: 2026-01 compared', 'shard3: 0 groups differ'],
  ])
  await opened.stores[2]?.store.writer.execute(statement(sql`TRUNCATE TABLE pageviews_daily`))
  const broken = await run(addRollups, 'rollups check --json')
  expect(broken.error).toMatch(/^\d+ groups? differ; run tallyhouse rollups rebuild/)
  expect(JSON.parse(broken.stdout)).toMatchObject({ months: 1 })
  expect(await check('rebuild --project wide')).toEqual([
    'shard2: 2026-01 rebuilt',
    'shard3: 2026-01 rebuilt',
  ])
  expect((await run(addRollups, 'rollups check')).error).toBeUndefined()
})

test('migrations of every store are named', async () => {
  for (const options of ['', ' --dry-run']) {
    const { stdout } = await run(addMigrate, `migrate${options}`)
    expect(stdout).toBe(NAMES.map((name) => `${name}: nothing to apply\n`).join(''))
  }
})

test('a backup has a folder per shard, and is restored into empty stores', async () => {
  const target = path.join(folder, 'backup')
  expect((await run(addBackup, `backup ${target}`)).error).toBeUndefined()
  expect((await readdir(target)).toSorted()).toEqual(NAMES)
  expect((await run(addBackup, `backup ${target}`)).error).toMatch(/^shard2: /)
  expect((await run(addRestore, `restore ${target}`)).error).toMatch(
    /^shard1: the database is not empty/,
  )
  const restored = await run(addRestore, `restore ${target}`, 'restored')
  expect(restored.error).toBeUndefined()
  const show = await Promise.all(
    ['data', 'restored'].map((dataDir) => run(addProject, 'project show wide --json', dataDir)),
  )
  expect(show[0]).toEqual(show[1])
})

test('a project is deleted from all shards', async () => {
  const { stdout, error } = await run(addProject, 'project delete wide --yes')
  expect([stdout, error]).toEqual([
    'deleted project wide, with 2 events of 2 users and 0 keys\n',
    undefined,
  ])
  expect((await run(addProject, 'project show wide')).error).toBe('there is no project wide')
})
