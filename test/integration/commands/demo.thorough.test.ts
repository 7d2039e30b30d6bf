/** `tallyhouse demo` as a process: it loads its events, shares its engine with other commands, and stops cleanly. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { readEngineFile } from '../../../src/clickhouse/embedded/engine-file.js'
import { getEngineDir } from '../../../src/clickhouse/embedded/engine-dir.js'
import { packagePath } from '../../../src/lib/package-path.js'
import { runCli } from '../../support/cli/cli.js'

let dataDir: string
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'tallyhouse-demo-'))
})
afterAll(() => rm(dataDir, { recursive: true, force: true }))

interface Demo {
  readonly child: ChildProcess
  readonly stderr: Promise<string>
  readonly exit: Promise<number | null>
}

function demo(env: NodeJS.ProcessEnv = {}): Demo {
  const child = spawn(process.execPath, [packagePath('dist/cli.js'), 'demo', '--days', '3'], {
    env: { PATH: process.env['PATH'], DATA_DIR: dataDir, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exit = once(child, 'exit').then(([code]) => code as number | null)
  return { child, stderr: text(child.stderr), exit }
}

/** The text that the demo prints when it is ready. */
async function welcome({ child, exit, stderr }: Demo): Promise<string> {
  let shown = ''
  return new Promise((resolve, reject) => {
    child.stdout!.on('data', (data: Buffer) => {
      shown += data.toString()
      if (shown.includes('/v1/project \\\n') && shown.endsWith("'\n\n")) resolve(shown)
    })
    void exit.then(async () => reject(new Error(`${shown}${await stderr}`)))
  })
}

/** The shell commands in a text: indented lines that start with curl, with their continuation lines. */
const curls = (shown: string): readonly string[] => shown.match(/^ {2}curl(.*\\\n)*.*$/gm) ?? []
const shell = promisify(execFile)

/** Opens the shop as a browser does, and sends an event as its script does. The page must not contain the key. */
async function seeShop(address: string, key: string): Promise<void> {
  const page = await (await fetch(address)).text()
  expect(page).not.toContain(key)
  const [, source, token] = /src="(.+)" data-token="(tallypub_[a-z0-9]{30})"/.exec(page)!
  const script = await fetch(new URL(source!, address))
  expect([script.status, script.headers.get('content-type')]).toEqual([
    200,
    'text/javascript; charset=utf-8',
  ])
  const sent = await fetch(new URL('/v1/events', address), {
    method: 'POST',
    body: JSON.stringify({ token, events: [{ name: 'pageview', url: address }] }),
  })
  expect([sent.status, await sent.json()]).toEqual([
    202,
    {
      accepted: 1,
      excluded: { bots: 1 },
      warnings: [expect.objectContaining({ field: 'events.0.user_agent' })],
    },
  ])
}

test('it shows requests that can be pasted, works beside other commands, and stops cleanly', async () => {
  const running = demo()
  const shown = await welcome(running)
  expect(shown).toMatch(/^ {2}docs: {5}http:\/\/127\.0\.0\.1:\d+\/docs$/m)
  expect(shown).toContain('  project:  demo (shop.example)\n')
  const [, shop, key] = /^ {2}shop: {5}(\S+)$[^]*^ {2}API key: {2}(\S+)$/m.exec(shown)!
  const [first] = /http\S+/.exec(shown)!
  expect(shown).toContain(`  look:     ${first}\n`)
  expect(first).toBe(`${new URL('/explore', shop).href}#key=${key!}`)
  expect((await fetch(first)).headers.get('content-type')).toBe('text/html; charset=utf-8')
  await seeShop(shop!, key!)

  const [, dashboard] = /^ {2}share: {4}(\S+)$/m.exec(shown)!
  expect(dashboard).toBe(new URL('/share/demo', shop).href)
  const shared = await fetch(dashboard!)
  expect([shared.status, await shared.text()]).toEqual([200, expect.not.stringContaining(key!)])

  const commands = curls(shown)
  expect(commands).toHaveLength(2)
  const [answer, project] = await Promise.all(
    commands.map(async (command) => {
      const { stdout } = await shell('bash', ['-c', command])
      return JSON.parse(stdout) as unknown
    }),
  )
  expect(answer).toMatchObject({
    data: [1, 2, 3, 4, 5].map(() => ({
      group: { country: expect.stringMatching(/^[A-Z]{2}$/) },
      metrics: { users: expect.any(Number) },
    })),
  })
  expect(project).toMatchObject({ project: { id: 'demo', domain: 'shop.example' } })

  const list = await runCli(['key', 'list', '--json'], { DATA_DIR: dataDir })
  expect(list).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(list.stdout)).toMatchObject([{ projectId: 'demo', name: 'demo' }])

  const second = demo()
  expect(await second.exit).toBe(1)
  expect(await second.stderr).toBe(
    `tallyhouse: the data folder ${dataDir} is in use by process ${running.child.pid!} (tallyhouse demo)\n`,
  )

  running.child.kill('SIGINT')
  expect(await running.exit).toBe(0)
  expect(await running.stderr).toMatch(/^loading the demo events\n[\d,]+ rows, .+\n$/)
  expect(await readEngineFile(getEngineDir(dataDir))).toBeUndefined()
})

test('run again, it loads only what happened since', async () => {
  const running = demo()
  await welcome(running)
  running.child.kill('SIGTERM')
  expect(await running.exit).toBe(0)
  expect(await running.stderr).toMatch(
    /^loading the demo events\n\d{1,2} rows?, .+\n(no new events\n)?$/,
  )
})

test('a signal while it loads stops it', async () => {
  const running = demo({ DATA_DIR: path.join(dataDir, 'other') })
  await once(running.child.stderr!, 'data')
  running.child.kill('SIGINT')
  expect(await running.exit).toBe(0)
})

test('a busy port is reported in one line, before anything is loaded', async () => {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as net.AddressInfo
  const { exit, stderr } = demo({ PORT: String(port) })
  expect(await exit).toBe(1)
  expect(await stderr).toBe(
    `tallyhouse: the address 127.0.0.1:${port} is in use by another process\n`,
  )
  server.close()
})

test('it leaves alone a project named demo that it did not create', async () => {
  const env = { DATA_DIR: path.join(dataDir, 'mine') }
  await runCli(
    ['project', 'create', '--id', 'demo', '--name', 'Mine', '--domain', 'my.example'],
    env,
  )
  const { exit, stderr } = demo(env)
  expect(await exit).toBe(1)
  expect(await stderr).toMatch(/^tallyhouse: project demo exists and is not the demo's: .+\n$/m)
})
