/** The command line as a process: its output, its exit codes, and which ClickHouse it uses. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { createAuthenticator } from '../../../src/auth/authenticate.js'
import { openKeyring } from '../../../src/auth/keyring.js'
import type { Endpoint } from '../../../src/clickhouse/endpoint.js'
import { connectStore } from '../../../src/clickhouse/store.js'
import { packagePath } from '../../../src/lib/package-path.js'
import { runCli, type CliResult } from '../../support/cli/cli.js'
import { formatServerUrl } from '../../support/cli/commands.js'
import {
  createDatabase,
  dropDatabase,
  newDatabase,
  type TestDatabase,
} from '../../support/store/database.js'

let dataDir: string
const run = (...args: readonly string[]): Promise<CliResult> => runCli(args, { DATA_DIR: dataDir })

/** The output of a command that must succeed. */
async function output(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(...args)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
}

const CREATE = ['project', 'create', '--name', 'Shop', '--domain', 'shop.example', '--id', 'shop']
const SHOP = {
  id: 'shop',
  name: 'Shop',
  domain: 'shop.example',
  token: expect.stringMatching(/^tallypub_[a-z0-9]{30}$/),
  createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  firstEventAt: null,
  hasPublicDashboard: false,
  excludedIps: [],
  excludedCountries: [],
  embedOrigins: [],
  timeZone: null,
  formerToken: null,
  retentionDays: null,
  keepDays: null,
  org: null,
}
const TOKEN = /^tallykey_[\w-]+\.[\w-]+\.[\w-]{86}\n$/

beforeEach(async () => {
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-cli-'))
})
afterEach(() => rm(dataDir, { recursive: true, force: true }))

describe('without a service', () => {
  test('projects are created, changed and shown', async () => {
    const made = JSON.parse(await output(...CREATE, '--retention-days', '90', '--json')) as object
    expect(made).toEqual({ ...SHOP, retentionDays: 90 })
    expect(Object.keys(made)).toEqual(Object.keys(SHOP))
    expect(JSON.parse(await output('project', 'show', 'shop', '--json'))).toEqual({
      ...made,
      exclusions: [],
    })
    expect(await output('project', 'show', 'shop')).toMatch(/^retention {11}90 days$/m)

    const changes = [
      '--time-zone',
      'Asia/Kolkata',
      '--excluded-ip',
      '192.0.2.1',
      '--excluded-ip',
      '::1',
      '--excluded-country',
      'KP',
    ]
    const changed = await output(
      'project',
      'update',
      'shop',
      ...changes,
      '--public-dashboard',
      '--json',
    )
    expect(JSON.parse(changed)).toEqual({
      ...made,
      hasPublicDashboard: true,
      excludedIps: ['192.0.2.1', '::1'],
      excludedCountries: ['KP'],
      timeZone: 'Asia/Kolkata',
    })
    expect(await output('project', 'show', 'shop')).toMatch(/^time zone {11}Asia\/Kolkata$/m)

    const clear = [
      '--time-zone',
      'none',
      '--excluded-ip',
      'none',
      '--excluded-country',
      'none',
      '--retention-days',
      'none',
    ]
    expect(await output('project', 'update', 'shop', ...clear, '--no-public-dashboard')).toMatch(
      /^retention {11}unlimited$/m,
    )
    expect(JSON.parse(await output('project', 'list', '--json'))).toEqual([
      { ...made, retentionDays: null },
    ])
    expect(await output('project', 'list')).toMatch(
      /^ID +NAME +DOMAIN +RETENTION +CREATED +FIRST EVENT\nshop +Shop +shop\.example +unlimited +\S+ \S+ UTC +-\n$/,
    )
  })

  test('keys are issued, listed and revoked', async () => {
    await output(...CREATE)
    expect(
      await output('key', 'issue', '--project', 'shop', '--name', 'ci', '--expires', '30d'),
    ).toMatch(TOKEN)
    const [key] = JSON.parse(await output('key', 'list', '--json')) as [{ id: string }]
    expect(key).toEqual({
      id: expect.stringMatching(/^key_[a-z0-9]{20}$/),
      projectId: 'shop',
      kid: expect.stringMatching(/^[\w-]{43}$/),
      name: 'ci',
      scopes: ['read'],
      createdAt: expect.stringMatching(/Z$/),
      expiresAt: expect.stringMatching(/\.000Z$/),
      revokedAt: null,
    })
    expect(await output('key', 'list', '--project', 'shop')).toMatch(
      /^key_\S+ +shop +valid .* ci$/m,
    )
    expect(await output('key', 'revoke', key.id)).toBe(`revoked ${key.id} of project shop\n`)
    expect(await output('key', 'list')).toMatch(/^key_\S+ +shop +revoked /m)
    expect(await output('key', 'list', '--project', 'other', '--json')).toBe('[]\n')
  })

  test('users and projects are deleted with --yes', async () => {
    await output(...CREATE)
    await output('key', 'issue', '--project', 'shop')
    const file = path.join(dataDir, 'events.ndjson')
    const times = ['10:00:00', '10:01:00', '12:00:00']
    const line = (time: string): string =>
      JSON.stringify({ timestamp: `2026-01-01T${time}Z`, user_id: 'u42' })
    await writeFile(file, times.map(line).join('\n'))
    expect(await run('import', '--project', 'shop', file)).toMatchObject({ code: 0 })

    const user = 'user u42 of project shop, with 3 events in 2 sessions'
    const deleteUser = ['user', 'delete', '--project', 'shop', 'u42']
    const refused = (what: string): CliResult => ({
      code: 1,
      stdout: '',
      stderr: `tallyhouse: this would permanently delete ${what}: add --yes to confirm\n`,
    })
    expect(await run(...deleteUser)).toEqual(refused(user))
    expect(await output(...deleteUser, '--yes')).toBe(`deleted ${user}\n`)
    for (const again of [deleteUser, [...deleteUser, '--yes']]) {
      expect(await run(...again)).toEqual({
        code: 1,
        stdout: '',
        stderr: 'tallyhouse: there is no user u42 in project shop\n',
      })
    }

    const project = 'project shop, with 0 events of 0 users and 1 key'
    expect(await run('project', 'delete', 'shop')).toEqual(refused(project))
    expect(await output('project', 'delete', 'shop', '--yes')).toBe(`deleted ${project}\n`)
    expect(JSON.parse(await output('project', 'list', '--json'))).toEqual([])
    expect(JSON.parse(await output('key', 'list', '--json'))).toEqual([])
  })

  test('migrate lists what it applied', async () => {
    expect(await output('migrate')).toMatch(/^applied 0032_initial\.sql\n/)
    expect(await output('migrate')).toBe('nothing to apply\n')
  })

  test('concurrent commands wait for each other, and no key is lost', async () => {
    await output(...CREATE)
    const issue = ['key', 'issue', '--project', 'shop']
    const tokens = await Promise.all([output(...issue), output(...issue), output(...issue)])
    for (const token of tokens) expect(token).toMatch(TOKEN)
    expect(JSON.parse(await output('key', 'list', '--json'))).toHaveLength(3)
  })
})

describe('with a service', () => {
  let service: ChildProcess
  let endpoint: Endpoint

  /** Runs an engine on the data folder, in place of the service, until its input ends. */
  const SERVICE = `
    import { openStore } from ${JSON.stringify(packagePath('dist/bootstrap/open-store.js'))}
    const config = { dataDir: process.env.DATA_DIR, clickhouse: undefined }
    const options = { purpose: 'tallyhouse serve', access: 'write', ownEngine: true }
    const service = await openStore(config, options)
    console.log(JSON.stringify(service.endpoint))
    process.stdin.resume().once('end', () => service.close())`
  const start = (): ChildProcess =>
    spawn(process.execPath, ['--input-type=module', '-e', SERVICE], {
      env: { PATH: process.env['PATH'], DATA_DIR: dataDir },
    })

  beforeEach(async () => {
    service = start()
    const [line] = (await once(service.stdout!, 'data')) as [Buffer]
    endpoint = JSON.parse(line.toString()) as Endpoint
  })
  afterEach(async () => {
    service.stdin!.end()
    await once(service, 'exit')
  })

  test('commands use its engine, and their keys are valid at once', async () => {
    expect(JSON.parse(await output(...CREATE, '--json'))).toEqual(SHOP)
    const token = (await output('key', 'issue', '--project', 'shop')).trim()
    const store = connectStore(endpoint)
    const keyring = openKeyring(store.lookups, () => new Date())
    const { authenticate } = createAuthenticator({ store, keyring, now: () => new Date() })
    const { principal } = await authenticate(`Bearer ${token}`)
    expect(principal.projectId).toBe('shop')
    await store.close()
    expect(service.exitCode).toBeNull()
  })

  test('a second service is refused, and its error names the process that uses the folder', async () => {
    const second = start()
    const [line] = (await once(second.stderr!, 'data')) as [Buffer]
    expect(line.toString()).toContain(`is in use by process ${service.pid!} (tallyhouse serve)`)
    await once(second, 'exit')
  })
})

describe('with a server', () => {
  let database: Endpoint

  beforeAll(() => {
    database = newDatabase()
  })
  afterAll(() => dropDatabase(database))

  test('its database is created and used', async () => {
    const url = new URL(`/${database.database}`, database.url)
    const { username, password } = database.accounts.admin
    Object.assign(url, { username, password })
    const env = { DATA_DIR: dataDir, CLICKHOUSE_URL: url.href }
    expect(await runCli(CREATE, env)).toMatchObject({ code: 0, stderr: '' })
    const { stdout } = await runCli(['project', 'list', '--json'], env)
    expect(JSON.parse(stdout)).toEqual([SHOP])
  })

  test.each(['127.0.0.1', 'localhost'])('that does not respond, on %s', async (host) => {
    const env = { DATA_DIR: dataDir, CLICKHOUSE_URL: `http://u:secret@${host}:1/x` }
    const { code, stdout, stderr } = await runCli(['migrate'], env)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^tallyhouse: ClickHouse does not respond: .*ECONNREFUSED.*\n$/)
    expect(stderr).not.toContain('secret')
  })
})

function expectError(outcome: CliResult, message: string, code: number): void {
  expect(outcome.stdout).toBe('')
  expect(outcome.stderr).toContain(`tallyhouse: ${message}`)
  expect(outcome.stderr.trim().split('\n')).toHaveLength(1)
  expect(outcome.code).toBe(code)
}

describe('an error is one line, without output', () => {
  let database: TestDatabase
  let server: string

  beforeAll(async () => {
    database = await createDatabase()
    server = formatServerUrl(database.endpoint)
  })
  afterAll(() => database.drop())

  const runOnServer = (args: readonly string[]): Promise<CliResult> =>
    runCli(args, { DATA_DIR: dataDir, CLICKHOUSE_URL: server })

  test.each<[string, number, readonly string[]]>([
    ['no field to change was given', 2, ['project', 'update', 'shop']],
    ["unknown command 'bogus'", 2, ['bogus']],
    ["unknown option '--bogus'", 2, ['migrate', '--bogus']],
    ["required option '--domain <domain>' not specified", 2, ['project', 'create', '--name', 'x']],
    ["missing required argument 'id'", 2, ['project', 'show']],
    ["too many arguments for 'list'. Expected 0 arguments but got 1.", 2, ['project', 'list', 'x']],
    [
      `option '--retention-days <days>' argument 'x' is invalid. Expected a number of days, or "none".`,
      2,
      ['project', 'update', 'shop', '--retention-days', 'x'],
    ],
    ['there is no project shop', 1, ['key', 'issue', '--project', 'shop']],
    ['there is no key key_x', 1, ['key', 'revoke', 'key_x']],
    ['there is no project shop', 1, ['project', 'delete', 'shop', '--yes']],
    ['there is no project shop', 1, ['user', 'delete', '--project', 'shop', 'u42', '--yes']],
    [
      '"192.0.2.0/33" is neither an IP address nor a range, such as 192.0.2.1 or 192.0.2.0/24',
      1,
      [...CREATE, '--excluded-ip', '192.0.2.0/33'],
    ],
  ])('%s', async (message, code, args) => {
    expectError(await runOnServer(args), message, code)
  })

  test('of an engine whose database is not set up yet', async () => {
    const message = 'the database is not set up yet: run "tallyhouse migrate"'
    expectError(await run('project', 'show', 'shop'), message, 1)
  })

  test('a project that exists already', async () => {
    expect(await runOnServer(CREATE)).toMatchObject({ code: 0 })
    expect(await runOnServer(CREATE)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'tallyhouse: the project shop exists already\n',
    })
  })

  test('an unusable variable', async () => {
    expect(await runCli(['migrate'], { DATA_DIR: dataDir, PORT: 'x' })).toEqual({
      code: 1,
      stdout: '',
      stderr: 'tallyhouse: PORT must be an integer from 0 to 65535, not "x"\n',
    })
  })
})

test('help works with an invalid configuration, and lists the variables', async () => {
  const { code, stdout } = await runCli(['--help'], { PORT: 'x' })
  expect(code).toBe(0)
  expect(stdout).toMatch(/^ {2}QUERY_TIMEOUT_MS +Milliseconds .*\(default: 10000\)$/m)
})
