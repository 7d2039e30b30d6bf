/** `tallyhouse open`: the link that it prints, and what the key in it may do, and until when. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { addKey } from '../../../src/commands/key.js'
import { addOpen } from '../../../src/commands/open.js'
import { addMs, HOUR_MS, MINUTE_MS } from '../../../src/lib/time.js'
import { createProject } from '../../../src/projects/store.js'
import { runCommand, type CommandResult } from '../../support/cli/commands.js'
import { createDatabase, type TestDatabase } from '../../support/store/database.js'
import { startTestService } from '../../support/world/service.js'

const NOW = new Date('2026-01-31T12:00:00Z')

let database: TestDatabase
let dataDir: string
beforeAll(async () => {
  database = await createDatabase()
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-open-'))
  await createProject(database.store, { id: 'shop', name: 'S', domain: 's.example' }, NOW)
})
afterAll(async () => {
  await database.drop()
  await rm(dataDir, { recursive: true })
})

const run = (args: string, env: NodeJS.ProcessEnv = {}, add = addOpen): Promise<CommandResult> =>
  runCommand(add, args.split(' '), {
    endpoint: database.endpoint,
    now: NOW,
    env: { DATA_DIR: dataDir, ...env },
  })

const LINK = /^(?<page>\S+)#key=(?<token>[\w-]+\.[\w-]+\.[\w-]{86})\n$/
const NOTE =
  /^the key (?<id>key_[a-z0-9]{20}) expires at 2026-01-31 13:00:00 UTC; it may query, not export\n$/

test.each<[string, NodeJS.ProcessEnv, string]>([
  ['', {}, 'http://127.0.0.1:8080/explore'],
  ['', { HOST: '0.0.0.0', PORT: '80' }, 'http://127.0.0.1:80/explore'],
  ['', { HOST: '::' }, 'http://[::1]:8080/explore'],
  ['', { HOST: 'stats.internal' }, 'http://stats.internal:8080/explore'],
  [' --address https://stats.example', { PORT: '0' }, 'https://stats.example/explore'],
  [' --address http://10.0.0.2:8080/', {}, 'http://10.0.0.2:8080/explore'],
])('open%s with %j links to %s', async (options, env, page) => {
  const { stdout, stderr, error } = await run(`open --project shop${options}`, env)
  expect(error).toBeUndefined()
  expect(LINK.exec(stdout)?.groups?.['page']).toBe(page)
  expect(stderr).toMatch(NOTE)
})

test('the key asks for one hour, and exports nothing', async () => {
  const { stdout, stderr } = await run('open --project shop')
  const token = LINK.exec(stdout)!.groups!['token']!
  const id = NOTE.exec(stderr)!.groups!['id']!
  const keys = JSON.parse((await run('key list --json', {}, addKey)).stdout) as { id: string }[]
  expect(keys.find((key) => key.id === id)).toEqual({
    id,
    projectId: 'shop',
    kid: expect.any(String),
    name: 'explorer',
    scopes: ['read'],
    createdAt: NOW.toISOString(),
    expiresAt: addMs(NOW, HOUR_MS).toISOString(),
    revokedAt: null,
  })
  let now = NOW
  const service = await startTestService({ store: database.store, now: () => now })
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  const body = '{ "date_range": "30days" }'
  const getStatus = async (path: string): Promise<number> =>
    (await fetch(`${service.address}/v1/${path}`, { method: 'POST', headers, body })).status
  expect(await getStatus('analytics/query')).toBe(200)
  expect(await getStatus('events/export')).toBe(403)
  now = addMs(NOW, HOUR_MS - MINUTE_MS)
  expect(await getStatus('analytics/query')).toBe(200)
  now = addMs(NOW, HOUR_MS)
  expect(await getStatus('analytics/query')).toBe(401)
  await service.stop()
})

const NO_URL = 'Expected a URL without a path, such as https://stats.example.'
test.each<[string, NodeJS.ProcessEnv, string]>([
  ['open', {}, `required option '--project <id>' not specified`],
  ['open --project nobody', {}, 'there is no project nobody'],
  ['open --project shop', { PORT: '0' }, 'PORT is 0: name the service with --address'],
  ...[
    'stats.example',
    'https://stats.example/explore',
    'ftp://stats.example',
    'https://u@x.example',
  ].map((address): [string, NodeJS.ProcessEnv, string] => [
    `open --project shop --address ${address}`,
    {},
    `option '--address <url>' argument '${address}' is invalid. ${NO_URL}`,
  ]),
])('%s with %j is an error', async (args, env, message) => {
  const { stdout, error } = await run(args, env)
  expect({ stdout, error: error?.replace(/^error: /, '') }).toEqual({ stdout: '', error: message })
})
