/** The README of clients/generators is true: each generator makes a client that compiles strictly, refuses slips, and asks a service. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { issueAdminKey } from '../../../src/auth/admin-keys.js'
import type { RunningService } from '../../../src/bootstrap/serving/start-service.js'
import { packagePath } from '../../../src/lib/package-path.js'
import { createDatabase, type TestDatabase } from '../../support/store/database.js'
import { createKeys, type TestKeys } from '../../support/world/keys.js'
import { startTestService } from '../../support/world/service.js'
import { createWorld } from '../../support/world/world.js'

const HOME = packagePath('clients/generators')
const NOW = new Date('2026-06-15T12:00:00Z')
const run = promisify(execFile)

/** A generator, as the README describes it. */
interface Generator {
  readonly name: string
  /** What its options are in, if they are in a file. */
  readonly options?: string
  readonly command: string
  /** A program that asks the service. */
  readonly use: string
  /** A program that manages its projects. */
  readonly manage: string
}

/** Reads the sections of the README that have a command. */
function readGenerators(): readonly Generator[] {
  const [, ...sections] = readFileSync(path.join(HOME, 'README.md'), 'utf8').split(/^## /m)
  return sections.flatMap((section): Generator[] => {
    const blocks = [...section.matchAll(/^```(\w+)\n(.*?)^```$/gms)]
    const read = (language: string): readonly string[] =>
      blocks.filter(([, name]) => name === language).map(([, , text = '']) => text)
    const [[command], [use, manage], [options]] = [read('sh'), read('ts'), read('js')]
    if (command === undefined || use === undefined || manage === undefined) return []
    const name = section.split('\n', 1)[0]!
    const described = { name, command: command.trim(), use, manage }
    return [{ ...described, ...(options === undefined ? {} : { options }) }]
  })
}

const GENERATORS = readGenerators()
/** Slips that the type of a client refuses: what is replaced, and by what. */
const SLIPS = [
  ['metric', "'users'", "'visitors'"],
  ['grouping', "'country'", "'contry'"],
] as const

let database: TestDatabase
let keys: TestKeys
let service: RunningService
let apiKey: string
let adminKey: string

beforeAll(async () => {
  if (!existsSync(path.join(HOME, 'node_modules'))) {
    await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: HOME })
  }
  database = await createDatabase()
  const { store } = database
  keys = await createKeys(store)
  const event = { timestamp: '2026-06-14T10:00:00Z', user_id: 'a', path: '/', country: 'DE' }
  const project = await createWorld(store, [event])
  apiKey = await keys.issue(project.id, NOW)
  const asked = { name: 'tests', org: null, expiresAt: null }
  adminKey = (await issueAdminKey(store, asked, NOW)).secret
  service = await startTestService({ store, now: () => NOW, env: { DATA_DIR: keys.dataDir } })
})
afterAll(async () => {
  await service.stop()
  await keys.remove()
  await database.drop()
})

/** Runs a command as a shell in a folder would; returns what it printed, also if it failed. */
async function command(text: string, cwd: string) {
  const bin = path.join(HOME, 'node_modules/.bin')
  const secrets = { TALLYHOUSE_API_KEY: apiKey, TALLYHOUSE_ADMIN_KEY: adminKey }
  const env = { ...process.env, NODE_OPTIONS: '', ...secrets }
  const line = text.replace(/^npx /, `${bin}/`)
  try {
    const { stdout } = await run('sh', ['-c', line], { cwd, env })
    return { failed: false, output: stdout }
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string }
    return { failed: true, output: stdout + stderr }
  }
}

type Sources = readonly (readonly [file: string, text: string])[]

/** Returns the sources of a client. */
async function readSources(folder: string): Promise<Sources> {
  const names = await readdir(folder, { recursive: true })
  const files = names.filter((name) => name.endsWith('.ts')).map((name) => path.join(folder, name))
  return Promise.all(files.map(async (file) => [file, await readFile(file, 'utf8')] as const))
}

const filesWith = (sources: Sources, pattern: RegExp): readonly string[] =>
  sources.filter(([, text]) => pattern.test(text)).map(([file]) => file)

test('the README describes all generators', () => {
  expect(GENERATORS.map(({ name }) => name)).toEqual([
    ...['openapi-typescript', 'Hey API', 'Orval', 'swagger-typescript-api', 'oazapfts', 'Kubb'],
  ])
})

test.each(GENERATORS)('$name', async ({ name, options, command: generate, use, manage }) => {
  const folder = path.join(HOME, 'out', name.replace(' ', '-'))
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const fill = (text: string): string => text.replaceAll('https://stats.example', service.address)
  if (options !== undefined) {
    const [file = ''] = /\w+\.config\.mjs/.exec(`${generate} orval.config.mjs`) ?? []
    await writeFile(path.join(folder, file), fill(options))
  }
  expect(await command(fill(generate), folder)).toMatchObject({ failed: false })

  const sources = await readSources(folder)
  expect(filesWith(sources, /(from |require\()['"]axios/)).toEqual([])
  // With this mark TypeScript would check nothing of the file.
  const checkable = sources.map(
    ([file, text]) => [file, text.replaceAll(/^\/\/ @ts-nocheck$/gm, '')] as const,
  )
  expect(filesWith(checkable, /@ts-(nocheck|ignore|expect-error)/)).toEqual([])
  await Promise.all(checkable.map(([file, text]) => writeFile(file, text)))
  await writeFile(
    path.join(folder, 'tsconfig.json'),
    '{ "extends": "../../tsconfig.json", "include": ["."] }',
  )
  await writeFile(path.join(folder, 'use.ts'), fill(use))
  await writeFile(path.join(folder, 'manage.ts'), fill(manage))
  for (const [slip, right, wrong] of SLIPS) {
    expect(use).toContain(right)
    await writeFile(path.join(folder, `misspelt-${slip}.ts`), use.replace(right, wrong))
  }
  const checked = await command('npx tsc', folder)
  // Further lines of an error are indented.
  const errors = checked.output.split('\n').filter((line) => /^\S/.test(line))
  expect(errors.map((line) => line.replace(/\(.*/s, '')).sort()).toEqual([
    'misspelt-grouping.ts',
    'misspelt-metric.ts',
  ])

  const printed = await command('node --import tsx use.ts', folder)
  expect(printed).toEqual({ failed: false, output: '1\n200\n1\n' })
  const managed = await command('node --import tsx manage.ts', folder)
  expect(managed).toEqual({
    failed: false,
    output: expect.stringMatching(/^shop\.example\.com\n\d{2,}\n0\n$/),
  })
})
