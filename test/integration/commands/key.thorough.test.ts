/** `tallyhouse key`: a key that is issued on one host is valid on all, and signing keys are rotated and retired. */
import { afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { openSigningKey } from '../../../src/auth/signing-key.js'
import { startService, type RunningService } from '../../../src/bootstrap/serving/start-service.js'
import { sql, statement } from '../../../src/clickhouse/sql.js'
import { addKey } from '../../../src/commands/key.js'
import { readConfig } from '../../../src/config/config.js'
import { createLogger } from '../../../src/lib/log.js'
import { packagePath } from '../../../src/lib/package-path.js'
import { createProject } from '../../../src/projects/store.js'
import { toCluster } from '../../../src/cluster/cluster.js'
import { formatServerUrl, runCommand, type CommandResult } from '../../support/cli/commands.js'
import { withDatabase } from '../../support/store/database.js'

const NOW = new Date('2026-01-31T12:00:00Z')

const database = withDatabase()
/** The data folders of two hosts. */
let [here, elsewhere]: readonly [string, string] = ['', '']

beforeAll(async () => {
  await createProject(database.store, { id: 'shop', name: 'S', domain: 's.example' }, NOW)
})
beforeEach(async () => {
  const make = () => mkdtemp(path.join(os.tmpdir(), 'tallyhouse-key-'))
  ;[here, elsewhere] = [await make(), await make()]
  for (const table of [sql`public_keys`, sql`api_keys`]) {
    await database.store.writer.execute(statement(sql`TRUNCATE TABLE ${table}`))
  }
})
afterEach(() => Promise.all([here, elsewhere].map((folder) => rm(folder, { recursive: true }))))

const run = (args: string, dataDir = here): Promise<CommandResult> =>
  runCommand(addKey, ['key', ...args.split(' ')], {
    endpoint: database.endpoint,
    now: NOW,
    env: { DATA_DIR: dataDir },
  })

/** Runs a command that must succeed, and returns what it prints. */
async function output(args: string, dataDir = here): Promise<string> {
  const { stdout, error } = await run(args, dataDir)
  expect(error).toBeUndefined()
  return stdout.trim()
}

const start = (dataDir: string): Promise<RunningService> =>
  startService({
    config: readConfig({ DATA_DIR: dataDir, PORT: '0', NODE_ENV: 'test' }),
    cluster: toCluster(database.store),
    logger: createLogger('silent'),
    now: () => NOW,
  })

const getStatus = async ({ address }: RunningService, token: string): Promise<number> =>
  (await fetch(`${address}/v1/project`, { headers: { Authorization: `Bearer ${token}` } })).status

test('a key that is issued on one host is valid at once on another without any', async () => {
  const services = [await start(here), await start(elsewhere)]
  const token = await output('issue --project shop')
  expect(await Promise.all(services.map((service) => getStatus(service, token)))).toEqual([
    200, 200,
  ])
  expect(await run('issue --project shop', elsewhere)).toMatchObject({
    stdout: '',
    error: expect.stringMatching(/^the signing key of this store is on another host, /),
  })
  await output('rotate', elsewhere)
  const other = await output('issue --project shop', elsewhere)
  expect(await Promise.all(services.map((service) => getStatus(service, other)))).toEqual([
    200, 200,
  ])
  await Promise.all(services.map((service) => service.stop()))
})

test('a signing key is rotated, listed and retired', async () => {
  const former = await output('issue --project shop --name former')
  const [{ kid }] = JSON.parse(await output('list --json')) as [{ kid: string }]
  const rotated = await run('rotate')
  const next = /^new API keys are signed with ([\w-]{43})\n$/.exec(rotated.stdout)![1]!
  expect(rotated.stderr).toBe(
    `API keys signed with ${kid} stay valid until "tallyhouse key retire ${kid}"\n`,
  )
  const current = await output('issue --project shop --name current --expires 30d')

  expect(await output(`retire ${kid} --at 1d`)).toBe(
    `API keys signed with ${kid} are refused from 2026-02-01 12:00:00 UTC on`,
  )
  const service = await start(elsewhere)
  expect([await getStatus(service, former), await getStatus(service, current)]).toEqual([200, 200])
  expect(await output(`retire ${kid}`)).toBe(
    `API keys signed with ${kid} are refused from 2026-01-31 12:00:00 UTC on`,
  )
  const restarted = await start(elsewhere)
  expect([await getStatus(restarted, former), await getStatus(restarted, current)]).toEqual([
    401, 200,
  ])
  await Promise.all([service.stop(), restarted.stop()])

  expect(JSON.parse(await output('list --signing --json'))).toEqual(
    expect.arrayContaining([
      {
        kid,
        signsHere: false,
        addedAt: NOW.toISOString(),
        retiresAt: NOW.toISOString(),
        apiKeys: 1,
      },
      { kid: next, signsHere: true, addedAt: NOW.toISOString(), retiresAt: null, apiKeys: 1 },
    ]),
  )
  expect(await output('list --signing')).toMatch(
    new RegExp(
      `^KID +STATE +SIGNS HERE +ADDED +RETIRES +API KEYS$[^]*^${kid} +retired +no .* 1$`,
      'm',
    ),
  )
  const listed = await output('list')
  expect(listed).toMatch(/^ID +PROJECT +SCOPES +STATE +CREATED +EXPIRES +KID +NAME$/m)
  expect(listed).toMatch(new RegExp(`^key_\\S+ +shop +read +retired .* - +${kid} +former$`, 'm'))
  expect(listed).toMatch(
    new RegExp(`^key_\\S+ +shop +read +valid .* 2026-03-02 12:00:00 UTC +${next} +current$`, 'm'),
  )
})

test('a key has the scopes that it was issued with, also after a rotation', async () => {
  const tokens = new Map<string, string>()
  for (const scopes of ['read', 'export', 'export,read']) {
    tokens.set(scopes, await output(`issue --project shop --scope ${scopes}`))
  }
  tokens.set('', await output('issue --project shop'))
  await output('rotate')
  const listed = JSON.parse(await output('list --json')) as {
    readonly id: string
    readonly scopes: readonly string[]
  }[]
  expect(listed.map(({ scopes }) => scopes.join()).sort()).toEqual(
    ['export', 'read', 'read', 'read,export'].sort(),
  )
  const service = await start(here)
  const getStatuses = (token: string): Promise<readonly number[]> =>
    Promise.all(
      ['/v1/analytics/query', '/v1/events/export'].map(async (path) => {
        const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
        return (await fetch(service.address + path, { method: 'POST', headers, body: '{}' })).status
      }),
    )
  // The bodies are not valid: 400 shows that the key may do it.
  expect(
    await Promise.all(
      [...tokens].map(async ([scopes, token]) => [scopes, await getStatuses(token)]),
    ),
  ).toEqual([
    ['read', [400, 403]],
    ['export', [403, 400]],
    ['export,read', [400, 400]],
    ['', [400, 403]],
  ])
  await service.stop()
  const { id } = listed.find(({ scopes }) => scopes.join() === 'export')!
  await output(`revoke ${id}`)
  const keys = JSON.parse(await output('list --json')) as typeof listed
  expect(keys.find((key) => key.id === id)).toMatchObject({
    scopes: ['export'],
    revokedAt: NOW.toISOString(),
  })
  const restarted = await start(elsewhere)
  expect(await getStatus(restarted, tokens.get('export')!)).toBe(401)
  await restarted.stop()
})

test.each([
  [
    'issue --project shop --scope write',
    `option '--scope <list>' argument 'write' is invalid. Expected scopes, joined by commas: read, export.`,
  ],
  ['issue', 'give either --project <id> or --admin'],
  ['issue --project shop --admin', 'give either --project <id> or --admin'],
  [
    'issue --admin --scope read',
    `option '--scope <list>' argument 'read' is invalid. Expected scopes of admin keys, joined by commas: projects:read, projects:write, keys:write, users:delete, notes:write, imports:write, usage:read, audit:read, analytics:read.`,
  ],
  ['issue --project shop --org acme', `option '--org <name>' needs --admin`],
  ['retire', `missing required argument 'kid'`],
  ['retire nothing', 'there is no public key nothing'],
  [
    'retire x --at soon',
    `option '--at <when>' argument 'soon' is invalid. Expected days such as 30d, a date such as 2030-01-31, or a time such as 2030-01-31T12:00:00Z.`,
  ],
  [
    'issue --project shop --expires 2026-02-30',
    `option '--expires <when>' argument '2026-02-30' is invalid. Expected days such as 30d, a date such as 2030-01-31, or a time such as 2030-01-31T12:00:00Z.`,
  ],
  [
    'list --signing --project shop',
    `option '--signing' cannot be used with option '--project <id>'`,
  ],
])('key %s is an error', async (args, message) => {
  const { stdout, error } = await run(args)
  expect({ stdout, error: error?.replace(/^error: /, '') }).toEqual({ stdout: '', error: message })
})

test('a service warns at its start when no public key is valid', async () => {
  await database.store.writer.execute(statement(sql`TRUNCATE TABLE public_keys`))
  const serve = async (): Promise<string> => {
    const child = spawn(process.execPath, [packagePath('dist/cli.js'), 'serve'], {
      env: {
        PATH: process.env['PATH'],
        CLICKHOUSE_URL: formatServerUrl(database.endpoint),
        DATA_DIR: here,
        PORT: '0',
      },
    })
    let log = ''
    child.stdout.on('data', (data: Buffer) => {
      log += data.toString()
      if (log.includes('"address"')) child.kill()
    })
    await once(child, 'exit')
    return log
  }
  const warning = 'no public key is valid, so every API key is refused'
  expect(await serve()).toContain(warning)
  await openSigningKey({ store: database.store, dataDir: here }, NOW)
  expect(await serve()).not.toContain(warning)
})
