/** Commands while a shard is away: what is at home can be changed, and a project is created on the shards that answer. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { addKey } from '../../../../src/commands/key.js'
import { addProject } from '../../../../src/commands/project.js'
import type { AddCommand } from '../../../../src/commands/shared/context.js'
import { runCommand, type CommandResult } from '../../../support/cli/commands.js'
import { startChaosProxy, type ChaosProxy } from '../../../support/faults/chaos-proxy.js'
import { createDatabase, type TestDatabase } from '../../../support/store/database.js'

const NOW = new Date('2026-01-31T12:00:00Z')

let database: TestDatabase
let proxy: ChaosProxy
let folder: string
let env: NodeJS.ProcessEnv

/** The shards `north`, the home, and `south`, behind the proxy, use one database. */
beforeAll(async () => {
  database = await createDatabase()
  const { url, database: name, accounts } = database.endpoint
  proxy = await startChaosProxy(url)
  folder = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-away-'))
  const shards = [
    { name: 'north', url, native: '127.0.0.1:9001' },
    { name: 'south', url: proxy.url, native: '127.0.0.1:9002' },
  ]
  const file = path.join(folder, 'cluster.yaml')
  await writeFile(file, JSON.stringify({ database: name, shards }))
  env = {
    CLUSTER: file,
    CLICKHOUSE_USER: accounts.admin.username,
    CLICKHOUSE_PASSWORD: accounts.admin.password,
    DATA_DIR: path.join(folder, 'data'),
  }
})
afterAll(async () => {
  await proxy.stop()
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

const run = (add: AddCommand, args: string): Promise<CommandResult> =>
  runCommand(add, args.split(' '), { now: NOW, env })

const create = (id: string, options = ''): Promise<CommandResult> =>
  run(addProject, `project create --id ${id} --name ${id} --domain ${id}.example${options}`)

test('a project of a shard that is away can be changed', async () => {
  expect((await create('far', ' --shard south')).error).toBeUndefined()
  proxy.fail({ kind: 'reject' })
  proxy.killAll()
  const { stdout, stderr, error } = await run(addProject, 'project update far --name Farther')
  expect({ stderr, error }).toEqual({
    stderr: 'south did not answer: the change is stored, and gets there when it answers again\n',
    error: undefined,
  })
  expect(stdout).toMatch(/^name +Farther$/m)
  expect(stdout).toMatch(/^shards +south$/m)
  expect((await run(addProject, 'project rotate-token far')).error).toBeUndefined()
  expect((await run(addKey, 'key issue --project far')).error).toBeUndefined()
})

test('a new project goes to a shard that answers', async () => {
  const { stdout, error } = await create('near')
  expect(error).toBeUndefined()
  expect(stdout).toMatch(/^shards +north$/m)
  expect((await create('none', ' --shard south')).error).toBe(
    'no project was created: south does not answer',
  )
  expect((await create('none', ' --width 2')).error).toBe(
    'no project was created: south does not answer',
  )
})

test('its data cannot be deleted', async () => {
  const { error } = await run(addProject, 'project delete far --yes')
  expect(error).not.toBeUndefined()
  proxy.fail({ kind: 'none' })
  const { stdout } = await run(addProject, 'project show far')
  expect(stdout).not.toMatch(/is being deleted/)
})
